import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The protocol of test/libraries/bot-process.ts for bots in Java. */
final class Wire {
  static final ObjectMapper JSON =
      new ObjectMapper()
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .disable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
          .setSerializationInclusion(JsonInclude.Include.NON_NULL);
  private static final BufferedReader INPUT =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
  // Loggers of libraries write to the standard output, too.
  private static final PrintStream OUTPUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  /** The library has no such method or parameter. */
  static final class Absent extends Exception {
    Absent(String reason) {
      super(reason);
    }
  }

  /** The bot API refused. */
  static final class Refused extends Exception {
    final int code;

    Refused(int code, String description) {
      super(description);
      this.code = code;
    }
  }

  interface Library {
    Object call(String method, JsonNode parameters) throws Exception;

    byte[] download(String fileId) throws Exception;
  }

  interface Taker {
    void take(byte[] body) throws Exception;
  }

  static void say(Object line) {
    try {
      String text = JSON.writeValueAsString(line);
      synchronized (OUTPUT) {
        OUTPUT.println(text);
      }
    } catch (Exception error) {
      throw new IllegalStateException(error);
    }
  }

  static JsonNode read() throws Exception {
    String line = INPUT.readLine();
    return line == null ? null : JSON.readTree(line);
  }

  /** A webhook that passes on what carries the secret. */
  static void listen(JsonNode hook, Taker taker) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", hook.get("port").asInt()), 0);
    server.createContext(
        hook.get("path").asText(),
        exchange -> {
          byte[] body = exchange.getRequestBody().readAllBytes();
          String secret = exchange.getRequestHeaders().getFirst("x-telegram-bot-api-secret-token");
          int status = hook.get("secret").asText().equals(secret) ? 200 : 401;
          try {
            if (status == 200) taker.take(body);
          } catch (Exception error) {
            error.printStackTrace();
            status = 500;
          }
          exchange.sendResponseHeaders(status, -1);
          exchange.close();
        });
    server.start();
  }

  /** Answers commands until it is told to stop. */
  static void serve(String version, Library library) throws Exception {
    say(Map.of("ready", Map.of("version", version)));
    ExecutorService threads = Executors.newCachedThreadPool();
    for (JsonNode command = read(); command != null && !command.has("stop"); command = read()) {
      JsonNode asked = command;
      threads.execute(() -> say(answer(asked, library)));
    }
    System.exit(0);
  }

  private static Map<String, Object> answer(JsonNode asked, Library library) {
    int id = asked.get("id").asInt();
    try {
      Object result =
          asked.has("call")
              ? library.call(asked.get("call").asText(), asked.get("parameters"))
              : sumOf(library.download(asked.get("download").asText()));
      return Map.of("id", id, "result", JSON.valueToTree(result));
    } catch (Absent absent) {
      return Map.of("id", id, "absent", absent.getMessage());
    } catch (Refused refused) {
      return Map.of("id", id, "refused", Map.of("code", refused.code, "description", refused.getMessage()));
    } catch (Throwable error) {
      return Map.of("id", id, "failed", String.valueOf(error));
    }
  }

  private static Object sumOf(byte[] bytes) throws Exception {
    byte[] sum = MessageDigest.getInstance("SHA-256").digest(bytes);
    return Map.of("size", bytes.length, "sha256", HexFormat.of().formatHex(sum));
  }
}
