package whichtool;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.AdvisorChain;
import org.springframework.ai.chat.client.advisor.api.BaseAdvisor;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.core.Ordered;

/**
 * Spring AI: `ChatClient.builder(model).defaultAdvisors(new SpringAiSelection(whichtool, 5))`. The model sees the tools
 * that the user's message needs.
 */
public final class SpringAiSelection implements BaseAdvisor {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final Whichtool whichtool;
    private final int k;

    public SpringAiSelection(Whichtool whichtool, int k) {
        this.whichtool = whichtool;
        this.k = k;
    }

    @Override
    public ChatClientRequest before(ChatClientRequest request, AdvisorChain chain) {
        if (!(request.prompt().getOptions() instanceof ToolCallingChatOptions options)) {
            return request;
        }
        List<ToolCallback> tools = options.getToolCallbacks();
        if (tools.size() <= k) {
            return request;
        }
        List<Whichtool.Tool> described = tools.stream().map(tool -> describe(tool.getToolDefinition())).toList();
        List<String> names = whichtool.select(request.prompt().getUserMessage().getText(), described, k);
        List<ToolCallback> chosen =
                tools.stream().filter(tool -> names.contains(tool.getToolDefinition().name())).toList();
        var selected = options.mutate().toolCallbacks(chosen).build();
        return request.mutate().prompt(request.prompt().mutate().chatOptions(selected).build()).build();
    }

    @Override
    public ChatClientResponse after(ChatClientResponse response, AdvisorChain chain) {
        return response;
    }

    /** Before the advisor that runs the loop of tool calls. */
    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE + 100;
    }

    private static Whichtool.Tool describe(ToolDefinition tool) {
        try {
            return new Whichtool.Tool(tool.name(), tool.description(), JSON.readTree(tool.inputSchema()));
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
