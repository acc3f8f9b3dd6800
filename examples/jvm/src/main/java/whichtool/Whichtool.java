package whichtool;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.StreamSupport;

/** Finds tools with a running `whichtool serve`. Each set of tools is imported the first time that it is seen. */
public final class Whichtool {
    public record Tool(String name, String description, Object parameters) {}

    private static final ObjectMapper JSON = new ObjectMapper();
    private final HttpClient http = HttpClient.newHttpClient();
    private final Set<String> imported = ConcurrentHashMap.newKeySet();
    private final String url;

    public Whichtool(String url) {
        this.url = url;
    }

    /** Returns the names of the tools that the request needs most, best first. */
    public List<String> select(String request, List<Tool> tools, int k) {
        String source = write(tools);
        String provider = "set-" + UUID.nameUUIDFromBytes(source.getBytes(StandardCharsets.UTF_8));
        if (!imported.contains(provider)) {
            post("/v1/tools?provider=" + provider, source);
            imported.add(provider);
        }
        String asked = write(Map.of("query", request, "k", k, "filter", Map.of("providers", List.of(provider))));
        JsonNode hits = post("/v1/find", asked).get("hits");
        return StreamSupport.stream(hits.spliterator(), false).map(hit -> hit.get("name").asText()).toList();
    }

    private static String write(Object value) {
        try {
            return JSON.writeValueAsString(value);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private JsonNode post(String path, String body) {
        try {
            var request = HttpRequest.newBuilder(URI.create(url + path)).POST(BodyPublishers.ofString(body)).build();
            JsonNode answer = JSON.readTree(http.send(request, BodyHandlers.ofString()).body());
            if (answer.has("error")) {
                throw new IllegalStateException(answer.get("error").get("message").asText());
            }
            return answer;
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", error);
        }
    }
}
