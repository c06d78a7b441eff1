import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A client of {@code mallbox fixture}, a whole mall for a test: the API that is under test, and the controls that a
 * test holds it by. Copy it with Json.java: they need Java 17 or later and nothing else.
 */
public final class Mall implements AutoCloseable {
    private static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    public final String operator;
    private final String api;
    private final String control;

    private Mall(Map<?, ?> line) {
        operator = (String) line.get("operatorToken");
        api = (String) line.get("api");
        control = (String) line.get("control");
    }

    /** The whole envelope and its HTTP status. A refusal is an answer, too: its {@code code} says why. */
    public record Answer(int status, Map<?, ?> envelope) {
        /** What stands there, {@code at("data", "id")}; null if nothing does. */
        public Object at(String... path) {
            Object found = envelope;
            for (String name : path) found = found instanceof Map<?, ?> map ? map.get(name) : null;
            return found;
        }

        /** Itself; throws what was said instead if it is a refusal. */
        public Answer good() {
            if (at("success") != Boolean.TRUE) throw new IllegalStateException(toString());
            return this;
        }
    }

    /** Runs {@code mallbox fixture}, by $MALLBOX or from the PATH. It ends when its first mall, this one, is closed. */
    public static Mall start(String... flags) throws IOException {
        return startProgram(System.getenv().getOrDefault("MALLBOX", "mallbox"), flags);
    }

    /** Runs {@code mallbox fixture} by the path of the program. */
    public static Mall startProgram(String program, String... flags) throws IOException {
        List<String> command = Stream.concat(Stream.of(program, "fixture"), Stream.of(flags)).toList();
        Path errors = Files.createTempFile("mallbox", ".log");
        errors.toFile().deleteOnExit();
        Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
        String line = process.inputReader().readLine();
        if (line == null) throw new IOException("mallbox fixture did not start:\n" + Files.readString(errors));
        return new Mall((Map<?, ?>) Json.read(line));
    }

    /** A mall more in the same process, made in milliseconds. */
    public Mall another(Map<String, ?> options) throws IOException {
        return new Mall((Map<?, ?>) control("POST", "/malls", options).at("data"));
    }

    @Override
    public void close() throws IOException {
        control("DELETE", "", null);
    }

    /** A call of the API. Without a token and a body where they are null. */
    public Answer call(String method, String path, String token, Map<String, ?> body)
            throws IOException {
        return request(method, api + path, token, body);
    }

    /** A call of the controls. Throws when it is refused. */
    public Answer control(String method, String path, Map<String, ?> body) throws IOException {
        return request(method, control + path, null, body).good();
    }

    public String logIn(String phone) throws IOException {
        return (String) control("POST", "/login", Map.of("phone", phone)).at("data", "token");
    }

    /** Moves the clock, {@code "1h 30m"}; whatever is due by then has been done when this returns. */
    public void advance(String by) throws IOException {
        control("POST", "/clock/advance", Map.of("by", by));
    }

    private static Answer request(String method, String url, String token, Map<String, ?> body)
            throws IOException {
        var content = body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(Json.write(body));
        var request = HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(30))
                .header("content-type", "application/json").method(method, content);
        if (token != null) request.header("authorization", token);
        try {
            var reply = HTTP.send(request.build(), BodyHandlers.ofString());
            return new Answer(reply.statusCode(), (Map<?, ?>) Json.read(reply.body()));
        } catch (InterruptedException interrupted) {
            throw new IOException(interrupted);
        }
    }
}
