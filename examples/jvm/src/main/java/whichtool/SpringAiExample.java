package whichtool;

import java.util.List;
import java.util.stream.Collectors;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.annotation.Tool;

/** A chat client of Spring AI with a fake model, which prints the tools that it sees. Argument: address of the server. */
public final class SpringAiExample {
    static final class Office {
        @Tool(description = "Forecast of the weather in a city")
        public String getWeather(String city) {
            return "Rain in " + city;
        }

        @Tool(description = "Send an email to a person")
        public String sendEmail(String text) {
            return "sent";
        }

        @Tool(description = "Book a table in a restaurant")
        public String bookTable(String text) {
            return "booked";
        }
    }

    static final class FakeModel implements ChatModel {
        private int calls;

        @Override
        public ChatOptions getOptions() {
            return ToolCallingChatOptions.builder().build();
        }

        @Override
        public ChatResponse call(Prompt prompt) {
            var options = (ToolCallingChatOptions) prompt.getOptions();
            System.out.println("the model sees: " + options.getToolCallbacks().stream()
                    .map(tool -> tool.getToolDefinition().name()).sorted().collect(Collectors.joining(" ")));
            var call = new AssistantMessage.ToolCall("1", "function", "getWeather", "{\"city\": \"Oslo\"}");
            AssistantMessage answer = calls++ == 0
                    ? AssistantMessage.builder().content("").toolCalls(List.of(call)).build()
                    : new AssistantMessage("Take an umbrella.");
            return new ChatResponse(List.of(new Generation(answer)));
        }
    }

    public static void main(String[] arguments) {
        ChatClient client = ChatClient.builder(new FakeModel())
                .defaultTools(new Office())
                .defaultAdvisors(new SpringAiSelection(new Whichtool(arguments[0]), 1))
                .build();
        System.out.println(client.prompt().user("Will it rain in Oslo?").call().content());
    }
}
