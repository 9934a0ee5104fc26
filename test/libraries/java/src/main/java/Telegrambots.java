import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.File;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.telegram.telegrambots.client.okhttp.OkHttpTelegramClient;
import org.telegram.telegrambots.longpolling.TelegramBotsLongPollingApplication;
import org.telegram.telegrambots.longpolling.interfaces.LongPollingUpdateConsumer;
import org.telegram.telegrambots.longpolling.util.DefaultGetUpdatesGenerator;
import org.telegram.telegrambots.meta.TelegramUrl;
import org.telegram.telegrambots.meta.api.methods.GetFile;
import org.telegram.telegrambots.meta.api.methods.send.SendMessage;
import org.telegram.telegrambots.meta.api.methods.updates.SetWebhook;
import org.telegram.telegrambots.meta.api.objects.InputFile;
import org.telegram.telegrambots.meta.api.objects.Update;
import org.telegram.telegrambots.meta.api.objects.media.InputMedia;
import org.telegram.telegrambots.meta.api.objects.media.InputMediaPhoto;
import org.telegram.telegrambots.meta.api.objects.replykeyboard.ForceReplyKeyboard;
import org.telegram.telegrambots.meta.api.objects.replykeyboard.InlineKeyboardMarkup;
import org.telegram.telegrambots.meta.api.objects.replykeyboard.ReplyKeyboard;
import org.telegram.telegrambots.meta.api.objects.replykeyboard.ReplyKeyboardMarkup;
import org.telegram.telegrambots.meta.api.objects.replykeyboard.ReplyKeyboardRemove;
import org.telegram.telegrambots.meta.exceptions.TelegramApiException;
import org.telegram.telegrambots.meta.exceptions.TelegramApiRequestException;

/** telegrambots behind the protocol of test/libraries/bot-process.ts. */
public final class Telegrambots implements Wire.Library {
  private static final String METHODS = "org.telegram.telegrambots.meta.api.methods.";
  private static final List<String> PACKAGES =
      List.of(
          "", "send.", "updatingmessages.", "groupadministration.", "pinnedmessages.", "polls.", "reactions.",
          "forum.", "invoices.", "commands.", "updates.", "games.", "stickers.");

  private final OkHttpTelegramClient client;
  private final String files;

  private Telegrambots(OkHttpTelegramClient client, String files) {
    this.client = client;
    this.files = files;
  }

  public static void main(String[] arguments) throws Exception {
    JsonNode start = Wire.read().get("start");
    String address = start.get("address").asText();
    String key = start.get("key").asText();

    // snippet
    URI uri = URI.create(address);
    TelegramUrl url =
        TelegramUrl.builder().schema(uri.getScheme()).host(uri.getHost()).port(uri.getPort()).build();
    OkHttpTelegramClient client = new OkHttpTelegramClient(key, url);
    LongPollingUpdateConsumer bot =
        updates -> {
          for (Update update : updates) {
            tell(update);
            if (!update.hasMessage() || !update.getMessage().hasText()) continue;
            String text = update.getMessage().getText();
            if (!text.startsWith("/echo ")) continue;
            String chat = update.getMessage().getChatId().toString();
            try {
              client.execute(new SendMessage(chat, "echo " + text.substring(6)));
            } catch (TelegramApiException error) {
              error.printStackTrace();
            }
          }
        };
    // end

    List<String> allowed = new ArrayList<>();
    start.get("allowed_updates").forEach(kind -> allowed.add(kind.asText()));
    if (start.has("webhook")) {
      JsonNode hook = start.get("webhook");
      Wire.listen(hook, body -> bot.consume(List.of(Wire.JSON.readValue(body, Update.class))));
      client.execute(
          SetWebhook.builder()
              .url(hook.get("url").asText())
              .secretToken(hook.get("secret").asText())
              .allowedUpdates(allowed)
              .build());
    } else {
      new TelegramBotsLongPollingApplication()
          .registerBot(key, () -> url, new DefaultGetUpdatesGenerator(allowed), bot);
    }
    String jar = new File(TelegramUrl.class.getProtectionDomain().getCodeSource().getLocation().getPath()).getName();
    Wire.serve(jar.replaceAll("^telegrambots-meta-(.*)\\.jar$", "$1"), new Telegrambots(client, address + "/file/bot" + key + "/"));
  }

  private static void tell(Update update) {
    Wire.say(Map.of("update", update));
  }

  @Override
  public byte[] download(String fileId) throws Exception {
    // The library's own download asks api.telegram.org, whatever its address is.
    String path = client.execute(new GetFile(fileId)).getFilePath();
    HttpRequest request = HttpRequest.newBuilder(URI.create(files + path)).build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofByteArray()).body();
  }

  @Override
  public Object call(String method, JsonNode parameters) throws Exception {
    if (method.equals("answerInlineQuery")) throw new Wire.Absent("answerInlineQuery is not tried");
    if (method.equals("addStickerToSet")) {
      throw new Wire.Absent("addStickerToSet of telegrambots writes a list in place of the sticker");
    }
    if (method.equals("sendPaidMedia")) {
      throw new Wire.Absent("telegrambots sends no paid media of one file");
    }
    Object request = requestOf(classOf(method), parameters);
    Method execute = null;
    for (Method candidate : client.getClass().getMethods()) {
      if (!candidate.getName().equals("execute") || !candidate.getParameterTypes()[0].isInstance(request)) continue;
      if (execute == null || candidate.getParameterTypes()[0] == request.getClass()) execute = candidate;
    }
    try {
      return execute.invoke(client, request);
    } catch (InvocationTargetException broken) {
      if (broken.getCause() instanceof TelegramApiRequestException refused && refused.getErrorCode() != null) {
        throw new Wire.Refused(refused.getErrorCode(), refused.getApiResponse());
      }
      throw new Exception(String.valueOf(broken.getCause()), broken.getCause());
    }
  }

  private static Class<?> classOf(String method) throws Wire.Absent {
    String name = method.substring(0, 1).toUpperCase() + method.substring(1);
    for (String place : PACKAGES) {
      try {
        return Class.forName(METHODS + place + name);
      } catch (ClassNotFoundException absent) {
        continue;
      }
    }
    throw new Wire.Absent("telegrambots has no " + method);
  }

  /** By the builder, as people write it. */
  private static Object requestOf(Class<?> kind, JsonNode parameters) throws Exception {
    Object builder = kind.getMethod("builder").invoke(null);
    for (Iterator<Map.Entry<String, JsonNode>> each = parameters.fields(); each.hasNext(); ) {
      Map.Entry<String, JsonNode> parameter = each.next();
      set(builder, nameOf(kind, parameter.getKey()), parameter.getValue());
    }
    Method build = builder.getClass().getMethod("build");
    build.setAccessible(true);
    return build.invoke(builder);
  }

  private static String nameOf(Class<?> kind, String name) {
    for (Field field : kind.getDeclaredFields()) {
      JsonProperty property = field.getAnnotation(JsonProperty.class);
      if (property != null && property.value().equals(name)) return field.getName();
    }
    StringBuilder camel = new StringBuilder();
    for (String word : name.split("_")) {
      camel.append(camel.isEmpty() ? word : word.substring(0, 1).toUpperCase() + word.substring(1));
    }
    return kind.getSimpleName().equals("SendMediaGroup") && name.equals("media") ? "medias" : camel.toString();
  }

  private static void set(Object builder, String name, JsonNode value) throws Exception {
    Exception last = new Wire.Absent(builder.getClass().getSimpleName() + " has no " + name);
    for (Method setter : builder.getClass().getMethods()) {
      if (!setter.getName().equals(name) || setter.getParameterCount() != 1) continue;
      try {
        Object converted = convert(value, setter.getGenericParameterTypes()[0]);
        setter.setAccessible(true);
        setter.invoke(builder, converted);
        return;
      } catch (IllegalArgumentException misfit) {
        last = misfit;
      }
    }
    throw last;
  }

  private static Object convert(JsonNode value, Type type) throws Exception {
    if (type == InputFile.class) {
      return value.has("upload")
          ? new InputFile(new File(value.get("upload").asText()), value.get("name").asText())
          : new InputFile(value.asText());
    }
    if (type == ReplyKeyboard.class) return Wire.JSON.convertValue(value, keyboardOf(value));
    if (type == InputMedia.class) return photo(value);
    if (type instanceof ParameterizedType list && Collection.class.isAssignableFrom((Class<?>) list.getRawType())) {
      if (!value.isArray()) throw new IllegalArgumentException("no list");
      Type item = list.getActualTypeArguments()[0];
      if (item instanceof java.lang.reflect.WildcardType any) item = any.getUpperBounds()[0];
      List<Object> items = new ArrayList<>();
      for (JsonNode each : value) items.add(convert(each, item));
      return items;
    }
    return Wire.JSON.convertValue(value, Wire.JSON.constructType(type));
  }

  private static Class<?> keyboardOf(JsonNode value) {
    if (value.has("inline_keyboard")) return InlineKeyboardMarkup.class;
    if (value.has("keyboard")) return ReplyKeyboardMarkup.class;
    return value.has("remove_keyboard") ? ReplyKeyboardRemove.class : ForceReplyKeyboard.class;
  }

  private static InputMedia photo(JsonNode value) {
    JsonNode media = value.get("media");
    InputMediaPhoto photo = new InputMediaPhoto(new File(media.get("upload").asText()), media.get("name").asText());
    if (value.has("caption")) photo.setCaption(value.get("caption").asText());
    return photo;
  }
}
