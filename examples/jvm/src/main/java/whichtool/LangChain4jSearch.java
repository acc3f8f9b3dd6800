package whichtool;

import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.internal.Json;
import dev.langchain4j.internal.JsonSchemaElementUtils;
import dev.langchain4j.invocation.InvocationContext;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.service.tool.search.ToolSearchRequest;
import dev.langchain4j.service.tool.search.ToolSearchResult;
import dev.langchain4j.service.tool.search.ToolSearchStrategy;
import java.util.List;
import java.util.Map;

/** LangChain4j: `AiServices.builder(...).toolSearchStrategy(new LangChain4jSearch(whichtool, 5))`. */
public final class LangChain4jSearch implements ToolSearchStrategy {
    private static final ToolSpecification SEARCH = ToolSpecification.builder()
            .name("find_tools")
            .description("Finds tools for a task and makes them available.")
            .parameters(JsonObjectSchema.builder()
                    .addStringProperty("query", "What the tool must do, in plain words")
                    .required("query")
                    .build())
            .build();
    private final Whichtool whichtool;
    private final int k;

    public LangChain4jSearch(Whichtool whichtool, int k) {
        this.whichtool = whichtool;
        this.k = k;
    }

    @Override
    public List<ToolSpecification> getToolSearchTools(InvocationContext context) {
        return List.of(SEARCH);
    }

    @Override
    public ToolSearchResult search(ToolSearchRequest request) {
        Map<?, ?> arguments = Json.fromJson(request.toolExecutionRequest().arguments(), Map.class);
        List<Whichtool.Tool> tools = request.searchableTools().stream().map(LangChain4jSearch::describe).toList();
        List<String> names = whichtool.select(String.valueOf(arguments.get("query")), tools, k);
        return new ToolSearchResult(names, names.isEmpty() ? "No tool fits." : "Available now: " + String.join(", ", names));
    }

    private static Whichtool.Tool describe(ToolSpecification tool) {
        Object parameters = tool.parameters() == null
                ? Map.of("type", "object") : JsonSchemaElementUtils.toMap(tool.parameters());
        return new Whichtool.Tool(tool.name(), tool.description() == null ? "" : tool.description(), parameters);
    }
}
