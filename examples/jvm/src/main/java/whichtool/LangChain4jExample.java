package whichtool;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.service.AiServices;

/** An agent of LangChain4j with a fake model, which prints the tools that it sees. Argument: address of the server. */
public final class LangChain4jExample {
    interface Assistant {
        String chat(String request);
    }

    static final class Office {
        @Tool("Forecast of the weather in a city")
        String getWeather(String city) {
            return "Rain in " + city;
        }

        @Tool("Send an email to a person")
        String sendEmail(String text) {
            return "sent";
        }

        @Tool("Book a table in a restaurant")
        String bookTable(String text) {
            return "booked";
        }
    }

    static final class FakeModel implements ChatModel {
        private int calls;

        @Override
        public ChatResponse doChat(ChatRequest request) {
            System.out.println("the model sees: " + String.join(" ",
                    request.toolSpecifications().stream().map(ToolSpecification::name).sorted().toList()));
            AiMessage answer = switch (calls++) {
                case 0 -> call("find_tools", "{\"query\": \"will it rain in Oslo?\"}");
                case 1 -> call("getWeather", "{\"arg0\": \"Oslo\", \"city\": \"Oslo\"}");
                default -> AiMessage.from("Take an umbrella.");
            };
            return ChatResponse.builder().aiMessage(answer).build();
        }

        private static AiMessage call(String name, String arguments) {
            return AiMessage.from(ToolExecutionRequest.builder().id(name).name(name).arguments(arguments).build());
        }
    }

    public static void main(String[] arguments) {
        Assistant assistant = AiServices.builder(Assistant.class)
                .chatModel(new FakeModel())
                .tools(new Office())
                .toolSearchStrategy(new LangChain4jSearch(new Whichtool(arguments[0]), 1))
                .build();
        System.out.println(assistant.chat("Do I need an umbrella in Oslo?"));
    }
}
