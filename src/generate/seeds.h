/* seeds.h: the handwritten tools that start a generated library and appear in its first prompts. */
#ifndef WT_GENERATE_SEEDS_H
#define WT_GENERATE_SEEDS_H

enum { SEED_TOOLS = 8, SEED_RELATED = 2, SEED_INSTRUCTIONS = 3 };

struct seed_tool {
    const char *name, *description;
    const char *related[SEED_RELATED];
    const char *related_descriptions[SEED_RELATED];
    const char *instructions[SEED_INSTRUCTIONS];
};

extern const struct seed_tool wt__seed_tools[SEED_TOOLS];

#endif
