/*
 * The server and a client of bench/sdk_matrix.py by the Java SDK, io.modelcontextprotocol.sdk:mcp, which speaks the legacy
 * era and has no way to cancel a call. With a pom.xml that depends on it and on slf4j-nop:
 *
 *     mvn dependency:build-classpath -Dmdep.outputFile=cp.txt && javac -cp $(cat cp.txt) -d classes Matrix.java
 *     java -cp classes:$(cat cp.txt) Matrix server | java -cp ... Matrix client PROGRAM ARGUMENT...
 */
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpServerFeatures.SyncPromptSpecification;
import io.modelcontextprotocol.server.McpServerFeatures.SyncResourceSpecification;
import io.modelcontextprotocol.server.McpServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.server.McpSyncServerExchange;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.*;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

public class Matrix {
    private static final Map<String, Object> OBJECT = Map.of("type", "object");
    private static final Map<String, Object> NUMBERS = Map.of("type", "object", "properties",
            Map.of("a", Map.of("type", "integer"), "b", Map.of("type", "integer")), "required", List.of("a", "b"));
    private static final Map<String, Object> PERSON = Map.of("type", "object", "properties",
            Map.of("name", Map.of("type", "string")), "required", List.of("name"));

    // ---------------------------------------------------------------- the server

    interface Body {
        String answer(McpSyncServerExchange exchange, CallToolRequest request) throws InterruptedException;
    }

    private static SyncToolSpecification tool(String name, Map<String, Object> schema, Body body) {
        return new SyncToolSpecification(Tool.builder(name, schema).description("The tool " + name + ".").build(),
                (exchange, request) -> {
                    try {
                        return CallToolResult.builder().addTextContent(body.answer(exchange, request)).build();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                });
    }

    private static String progress(McpSyncServerExchange exchange, CallToolRequest request) throws InterruptedException {
        for (int done = 1; done <= 3; done++) {
            exchange.progressNotification(ProgressNotification.builder(request.progressToken(), done).total(3.0).build());
            Thread.sleep(50); // a client drops what comes together with the result
        }
        return "done";
    }

    private static String sample(McpSyncServerExchange exchange, CallToolRequest request) {
        List<SamplingMessage> messages = List.of(new SamplingMessage(Role.USER, new TextContent("Say yes.")));
        Content content = exchange.createMessage(CreateMessageRequest.builder(messages, 9).build()).content();
        return "The model says " + ((TextContent) content).text();
    }

    private static String askUser(McpSyncServerExchange exchange, CallToolRequest request) {
        ElicitResult answer = exchange.createElicitation(ElicitRequest.builder("What is your name?", PERSON).build());
        return "Hello, " + answer.content().get("name") + "!";
    }

    private static String roots(McpSyncServerExchange exchange, CallToolRequest request) {
        return "roots: " + exchange.listRoots().roots().stream().map(Root::uri).collect(Collectors.joining(" "));
    }

    private static long number(CallToolRequest request, String name) {
        return ((Number) request.arguments().get(name)).longValue();
    }

    private static void serve() throws InterruptedException {
        McpServer.sync(new StdioServerTransportProvider(McpJsonDefaults.getMapper()))
                .serverInfo("sdk", "1")
                .requestTimeout(Duration.ofSeconds(30))
                .capabilities(ServerCapabilities.builder().tools(false).resources(false, false).prompts(false).build())
                .tools(tool("add", NUMBERS, (exchange, request) -> "" + (number(request, "a") + number(request, "b"))),
                        tool("progress", OBJECT, Matrix::progress),
                        tool("ask_user", OBJECT, Matrix::askUser),
                        tool("sample", OBJECT, Matrix::sample),
                        tool("roots", OBJECT, Matrix::roots))
                .resources(new SyncResourceSpecification(Resource.builder("sdk://text", "text").build(),
                        (exchange, request) -> new ReadResourceResult(
                                List.of(new TextResourceContents(request.uri(), "text/plain", "a text of the server")))))
                .prompts(new SyncPromptSpecification(
                        new Prompt("hello", "Greets somebody.", List.of(new PromptArgument("name", "whom", true))),
                        (exchange, request) -> new GetPromptResult("", List.of(new PromptMessage(Role.USER,
                                new TextContent("Say hello to " + request.arguments().get("name") + "."))))))
                .build();
        Thread.currentThread().join(); // until standard input ends
    }

    // ---------------------------------------------------------------- a client, which reports as client.py does

    private static String call(McpSyncClient client, String name, Map<String, Object> arguments, Object token) {
        CallToolRequest.Builder request = CallToolRequest.builder(name).arguments(arguments);
        if (token != null) {
            request.progressToken(token);
        }
        return ((TextContent) client.callTool(request.build()).content().get(0)).text();
    }

    private static void runClient(String[] command) {
        ServerParameters parameters =
                ServerParameters.builder(command[0]).args(Arrays.copyOfRange(command, 1, command.length)).build();
        List<Double> heard = Collections.synchronizedList(new ArrayList<>());
        McpSyncClient client = McpClient.sync(new StdioClientTransport(parameters, McpJsonDefaults.getMapper()))
                .requestTimeout(Duration.ofSeconds(30))
                .initializationTimeout(Duration.ofSeconds(30))
                .capabilities(ClientCapabilities.builder().roots(false).sampling().elicitation().build())
                .roots(new Root("file:///ada", "ada"))
                .sampling(request -> CreateMessageResult.builder(Role.ASSISTANT, "yes", "none").build())
                .elicitation(request -> new ElicitResult(ElicitResult.Action.ACCEPT, Map.of("name", "Ada")))
                .progressConsumer(progress -> heard.add(progress.progress()))
                .build();
        client.initialize();
        Map<String, Callable<Boolean>> checks = new LinkedHashMap<>();
        checks.put("tools", () -> client.listTools().tools().stream().anyMatch(tool -> tool.name().equals("add"))
                && call(client, "add", Map.of("a", 2, "b", 3), null).equals("5"));
        checks.put("resources", () -> ((TextResourceContents) client.readResource(new ReadResourceRequest("sdk://text"))
                .contents().get(0)).text().equals("a text of the server"));
        checks.put("prompts", () -> ((TextContent) client.getPrompt(new GetPromptRequest("hello", Map.of("name", "Ada")))
                .messages().get(0).content()).text().contains("Say hello to Ada."));
        checks.put("elicitation", () -> call(client, "ask_user", Map.of(), null).equals("Hello, Ada!"));
        checks.put("sampling", () -> call(client, "sample", Map.of(), null).equals("The model says yes"));
        checks.put("roots", () -> call(client, "roots", Map.of(), null).startsWith("roots: file:///ada"));
        checks.put("progress", () -> {
            call(client, "progress", Map.of(), "token");
            return heard.equals(List.of(1.0, 2.0, 3.0));
        });
        StringBuilder report = new StringBuilder("{\"cancel\": false");
        checks.forEach((name, check) -> {
            boolean works = false;
            try {
                works = check.call();
            } catch (Exception error) {
                System.err.println(name + ": " + error);
            }
            report.append(", \"").append(name).append("\": ").append(works);
        });
        client.closeGracefully();
        System.out.println(report.append("}"));
        System.exit(0);
    }

    public static void main(String[] words) throws InterruptedException {
        if (words[0].equals("server")) {
            serve();
        } else {
            runClient(Arrays.copyOfRange(words, 1, words.length));
        }
    }
}
