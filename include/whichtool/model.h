/* whichtool/model.h: encodes texts, and installs, merges and quantizes encoders.
 *
 * The conventions are those of whichtool.h, which includes this header. */
#ifndef WHICHTOOL_MODEL_H
#define WHICHTOOL_MODEL_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- vectors */

/* Returns the dimension D of the current encoder, or WT_EMODEL. */
WT_API int wt_dimension(wt_engine *engine, wt_error *err);

/* Encodes texts as requests, with the model's query prompt if it has one, to unit vectors.
 * lens: [count] bytes. out: [count, D], allocated by the caller. Texts beyond the model's token limit are truncated.
 * Errors: WT_EMODEL, WT_ENOMEM. */
WT_API int wt_embed(wt_engine *engine, const char *const *texts, const size_t *lens, size_t count, float *out,
                    wt_error *err);

/* Works like wt_embed, but encodes texts as documents, with the model's document prompt if it has one. */
WT_API int wt_embed_documents(wt_engine *engine, const char *const *texts, const size_t *lens, size_t count, float *out,
                              wt_error *err);

/* ---------------------------------------------------------------- models */

/* Default encoder, which comes with whichtool. */
#define WT_DEFAULT_MODEL "whichtool-minilm-v2"
/* Default encoder if the files of WT_DEFAULT_MODEL are missing. WT_DEFAULT_MODEL was tuned from this model.
 * wt_model_pull downloads it. */
#define WT_BASE_MODEL "all-MiniLM-L6-v2"
/* Cross-encoder of the recipe joint, which comes with whichtool. */
#define WT_JOINT_MODEL "whichtool-joint-v1"
/* Encoder for requests in other languages than English, which comes with whichtool. */
#define WT_MULTILINGUAL_MODEL "whichtool-multilingual-v1"
/* Static encoder compiled into the library: needs neither files nor a network. */
#define WT_BUILT_IN_MODEL "whichtool-static-v1"

#define WT_MAX_MERGED 64 /* models per wt_model_merge */

typedef struct wt_model {
    const char *name;
    const char *path;         /* folder, even if it does not exist; "" if built in */
    const char *architecture; /* "bert", ...; "" if not installed and not in a manifest */
    const char *license;
    int installed;                                    /* true if all files of the manifest exist in full size */
    int packed;                                       /* true if the packed cache exists and is current */
    size_t dimension, layers, max_tokens, parameters; /* 0 if unknown */
    uint64_t bytes;
    int built_in;         /* true if compiled into the library */
    int included;         /* true if it came with whichtool */
    const char *revision; /* for a model pulled from the hub: its commit, or the requested revision if the server did
                             not report one; else "" */
} wt_model;

typedef struct wt_models {
    size_t len;
    const wt_model *const *items;
} wt_models;

WT_API void wt_models_free(wt_models *models);

/* Returns the name of the encoder that is used if wt_open_options.model is NULL.
 * models_dir: as in wt_open_options. Static. */
WT_API const char *wt_default_model(const char *models_dir);

/* Lists the models of the manifests, those in models_dir (NULL: as in wt_open_options), those that came with whichtool,
 * and the built-in one. */
WT_API int wt_model_list(const char *models_dir, wt_models **out, wt_error *err);

/* Describes one model, by name or folder. Errors: WT_ENOTFOUND, WT_EMODEL (unreadable files). */
WT_API int wt_model_info(const char *models_dir, const char *name, wt_models **out, wt_error *err);

/* Downloads a model, verifies the SHA-256 of every file, and moves the model into models_dir with one rename.
 *
 * name: one of
 * - a name with a manifest.
 * - "ORG/NAME" or "ORG/NAME@REVISION" on the Hugging Face hub ($HF_ENDPOINT, if set, replaces its URL). The model goes
 *   to models_dir/ORG/NAME. The first pull records the hashes; later pulls must match them. $HF_TOKEN is sent to that
 *   host only (docs/encoders.md, "Other models").
 *
 * An interrupted pull keeps its files for the next one. Returns 1 if anything was downloaded, and 0 if the model is
 * already complete and correct. A model that came with whichtool is verified in its own folder.
 *
 * Runs child processes, never a shell. progress may be NULL.
 *
 * Errors:
 * - WT_ENOTFOUND: no manifest of that name, or no such model or revision.
 * - WT_EINVAL: malformed name, or another revision is installed.
 * - WT_ENETWORK: no source delivered the files.
 * - WT_EMODEL: wrong hash, or the model is gated, lacks safetensors, or has an unsupported architecture.
 * - WT_EBUSY: another process is pulling it.
 * - WT_ETOOLONG, WT_EFULL, WT_EREADONLY, WT_ECANCELLED, WT_EIO, WT_ENOMEM. */
WT_API int wt_model_pull(const char *models_dir, const char *name, wt_progress_fn progress, void *context,
                         wt_error *err);

/* Writes the packed cache that makes loading fast, unless it is current. An engine also writes it when it loads the
 * model, and works without a cache if the write fails. Here a failed write is an error (WT_EFULL, WT_EREADONLY, WT_EIO,
 * ...). */
WT_API int wt_model_pack(const char *models_dir, const char *name, wt_error *err);

/* Writes the weighted mean of several models to the folder out, which must not contain a model. The weights are fp32.
 * All other files come from the first model, and "whichtool" in config.json lists the merged models.
 *
 * names: [count] names or folders, 2 to WT_MAX_MERGED, with the same architecture, dimensions and tokenizer.
 * weights: [count], each 0 to 1, summing to 1; NULL: equal weights.
 *
 * Any thread. Errors: WT_EINVAL (count, weights, or out has a model), WT_ENOTFOUND (a model does not exist), WT_EMODEL
 * (incompatible or unreadable models, or the built-in one), WT_EIO, WT_EFULL, WT_EREADONLY, WT_ENOMEM. */
WT_API int wt_model_merge(const char *models_dir, const char *const *names, const double *weights, size_t count,
                          const char *out, wt_error *err);

/* Writes a smaller copy of a model to the folder out, which must not contain a model.
 *
 * precision: "int8" (a byte per weight and an fp32 scale per row) or "fp16"; NULL: "int8". Only matrices are converted.
 * fp16 is converted back to fp32 when the model is loaded; encoders multiply int8 matrices as bytes where the processor
 * supports it.
 *
 * Any thread. Errors: WT_EINVAL (unknown precision, or out has a model), WT_ENOTFOUND, WT_EMODEL (unreadable, built in,
 * or with values out of range), WT_EIO, WT_EFULL, WT_EREADONLY, WT_ENOMEM. */
WT_API int wt_model_quantize(const char *models_dir, const char *name, const char *precision, const char *out,
                             wt_error *err);

#ifdef __cplusplus
}
#endif
#endif
