import com.fasterxml.jackson.databind.JsonNode;
import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.pengrad.telegrambot.TelegramBot;
import com.pengrad.telegrambot.UpdatesListener;
import com.pengrad.telegrambot.model.Update;
import com.pengrad.telegrambot.model.request.ForceReply;
import com.pengrad.telegrambot.model.request.InlineKeyboardMarkup;
import com.pengrad.telegrambot.model.request.InlineQueryResult;
import com.pengrad.telegrambot.model.request.InlineQueryResultArticle;
import com.pengrad.telegrambot.model.request.InputMedia;
import com.pengrad.telegrambot.model.request.InputMediaPhoto;
import com.pengrad.telegrambot.model.request.InputTextMessageContent;
import com.pengrad.telegrambot.model.request.Keyboard;
import com.pengrad.telegrambot.model.request.ReplyKeyboardMarkup;
import com.pengrad.telegrambot.model.request.ReplyKeyboardRemove;
import com.pengrad.telegrambot.request.BaseRequest;
import com.pengrad.telegrambot.request.GetFile;
import com.pengrad.telegrambot.request.GetUpdates;
import com.pengrad.telegrambot.request.SendMessage;
import com.pengrad.telegrambot.request.SetWebhook;
import com.pengrad.telegrambot.response.BaseResponse;
import com.pengrad.telegrambot.utility.BotUtils;
import java.io.File;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** java-telegram-bot-api behind the protocol of test/libraries/bot-process.ts. */
public final class JavaTelegramBotApi implements Wire.Library {
  private static final Gson GSON = BotUtils.GSON;

  /** What the constructors of requests take beside the chat, in their order. */
  private static final Map<String, String> CONSTRUCTORS =
      Map.ofEntries(
          Map.entry("sendMessage", "text"),
          Map.entry("editMessageText", "message_id text"),
          Map.entry("editMessageReplyMarkup", "message_id"),
          Map.entry("editMessageCaption", "message_id"),
          Map.entry("editMessageMedia", "message_id media"),
          Map.entry("deleteMessage", "message_id"),
          Map.entry("answerCallbackQuery", "callback_query_id"),
          Map.entry("answerInlineQuery", "inline_query_id results"),
          Map.entry("answerPreCheckoutQuery", "pre_checkout_query_id"),
          Map.entry("sendPoll", "question options"),
          Map.entry("stopPoll", "message_id"),
          Map.entry("setMessageReaction", "message_id reaction"),
          Map.entry("sendChatAction", "action"),
          Map.entry("sendMessageDraft", "draft_id text"),
          Map.entry("sendPhoto", "photo"),
          Map.entry("sendDocument", "document"),
          Map.entry("sendAudio", "audio"),
          Map.entry("sendVoice", "voice"),
          Map.entry("sendVideo", "video"),
          Map.entry("sendAnimation", "animation"),
          Map.entry("sendSticker", "sticker"),
          Map.entry("sendMediaGroup", "media"),
          Map.entry("sendLocation", "latitude longitude"),
          Map.entry("editMessageLiveLocation", "message_id latitude longitude"),
          Map.entry("stopMessageLiveLocation", "message_id"),
          Map.entry("sendVenue", "latitude longitude title address"),
          Map.entry("sendContact", "phone_number first_name"),
          Map.entry("forwardMessage", "from_chat_id message_id"),
          Map.entry("copyMessage", "from_chat_id message_id"),
          Map.entry("pinChatMessage", "message_id"),
          Map.entry("getChatMember", "user_id"),
          Map.entry("promoteChatMember", "user_id"),
          Map.entry("restrictChatMember", "user_id permissions"),
          Map.entry("banChatMember", "user_id"),
          Map.entry("unbanChatMember", "user_id"),
          Map.entry("revokeChatInviteLink", "invite_link"),
          Map.entry("approveChatJoinRequest", "user_id"),
          Map.entry("createForumTopic", "name"),
          Map.entry("editForumTopic", "message_thread_id"),
          Map.entry("closeForumTopic", "message_thread_id"),
          Map.entry("deleteForumTopic", "message_thread_id"),
          Map.entry("setChatTitle", "title"),
          Map.entry("setChatDescription", "description"),
          Map.entry("setChatPermissions", "permissions"),
          Map.entry("setMyCommands", "commands"),
          Map.entry("sendInvoice", "title description payload currency prices"),
          Map.entry("createInvoiceLink", "title description payload currency prices"),
          Map.entry("sendGame", "game_short_name"),
          Map.entry("getStickerSet", "name"),
          Map.entry("uploadStickerFile", "user_id sticker sticker_format"),
          Map.entry("createNewStickerSet", "user_id name title stickers"),
          Map.entry("addStickerToSet", "user_id name sticker"),
          Map.entry("deleteStickerSet", "name"));

  private final TelegramBot bot;

  private JavaTelegramBotApi(TelegramBot bot) {
    this.bot = bot;
  }

  public static void main(String[] arguments) throws Exception {
    JsonNode start = Wire.read().get("start");
    String address = start.get("address").asText();
    String key = start.get("key").asText();

    // snippet
    TelegramBot bot =
        new TelegramBot.Builder(key).apiUrl(address + "/bot").fileApiUrl(address + "/file/bot").build();
    UpdatesListener listener =
        updates -> {
          for (Update update : updates) {
            tell(update);
            if (update.message() == null || update.message().text() == null) continue;
            String text = update.message().text();
            if (!text.startsWith("/echo ")) continue;
            try {
              bot.execute(new SendMessage(update.message().chat().id(), "echo " + text.substring(6)));
            } catch (RuntimeException error) {
              error.printStackTrace();
            }
          }
          return UpdatesListener.CONFIRMED_UPDATES_ALL;
        };
    // end

    List<String> kinds = new ArrayList<>();
    start.get("allowed_updates").forEach(kind -> kinds.add(kind.asText()));
    String[] allowed = kinds.toArray(new String[0]);
    if (start.has("webhook")) {
      JsonNode hook = start.get("webhook");
      Wire.listen(
          hook,
          body -> listener.process(List.of(BotUtils.parseUpdate(new String(body, StandardCharsets.UTF_8)))));
      bot.execute(
          new SetWebhook()
              .url(hook.get("url").asText())
              .secretToken(hook.get("secret").asText())
              .allowedUpdates(allowed));
    } else {
      bot.setUpdatesListener(listener, new GetUpdates().timeout(20).allowedUpdates(allowed));
    }
    String jar = new File(TelegramBot.class.getProtectionDomain().getCodeSource().getLocation().getPath()).getName();
    String version = jar.replaceAll("^java-telegram-bot-api-(.*)\\.jar$", "$1");
    Wire.serve(version, new JavaTelegramBotApi(bot));
  }

  private static void tell(Update update) {
    Wire.say(Map.of("update", tree(update)));
  }

  private static JsonNode tree(Object value) {
    try {
      return Wire.JSON.readTree(GSON.toJson(value));
    } catch (Exception broken) {
      throw new IllegalStateException(broken);
    }
  }

  @Override
  public byte[] download(String fileId) throws Exception {
    return bot.getFileContent(bot.execute(new GetFile(fileId)).file());
  }

  @Override
  @SuppressWarnings({"rawtypes", "unchecked"})
  public Object call(String method, JsonNode parameters) throws Exception {
    BaseResponse response = bot.execute((BaseRequest) requestOf(method, parameters));
    if (!response.isOk()) throw new Wire.Refused(response.errorCode(), response.description());
    JsonNode answer = tree(response);
    return answer.has("result") ? answer.get("result") : answer.get("ok");
  }

  /** By the constructor, then by the methods that set one parameter each. */
  private static Object requestOf(String method, JsonNode parameters) throws Exception {
    Class<?> kind;
    try {
      String name = method.substring(0, 1).toUpperCase() + method.substring(1);
      kind = Class.forName("com.pengrad.telegrambot.request." + name);
    } catch (ClassNotFoundException absent) {
      throw new Wire.Absent("java-telegram-bot-api has no " + method);
    }
    Map<String, JsonNode> left = new LinkedHashMap<>();
    for (Iterator<Map.Entry<String, JsonNode>> each = parameters.fields(); each.hasNext(); ) {
      Map.Entry<String, JsonNode> parameter = each.next();
      left.put(parameter.getKey(), parameter.getValue());
    }
    // The constructor without a reason agrees.
    if (method.equals("answerPreCheckoutQuery")) left.remove("ok");
    List<JsonNode> first = new ArrayList<>();
    if (left.containsKey("chat_id")) first.add(left.remove("chat_id"));
    String taken = CONSTRUCTORS.get(method);
    if (taken != null) for (String name : taken.split(" ")) first.add(left.remove(name));
    Object request = constructed(kind, first);
    for (Map.Entry<String, JsonNode> parameter : left.entrySet()) {
      set(request, parameter.getKey(), parameter.getValue());
    }
    return request;
  }

  private static Object constructed(Class<?> kind, List<JsonNode> values) throws Exception {
    Exception last = new Wire.Absent(kind.getSimpleName() + " has no such constructor");
    for (Constructor<?> constructor : kind.getConstructors()) {
      Type[] types = constructor.getGenericParameterTypes();
      if (types.length != values.size()) continue;
      try {
        Object[] arguments = new Object[types.length];
        for (int index = 0; index < types.length; index++) {
          arguments[index] = convert(values.get(index), types[index]);
        }
        return constructor.newInstance(arguments);
      } catch (IllegalArgumentException misfit) {
        last = misfit;
      }
    }
    throw last;
  }

  private static void set(Object request, String name, JsonNode value) throws Exception {
    StringBuilder camel = new StringBuilder();
    for (String word : name.split("_")) {
      camel.append(camel.isEmpty() ? word : word.substring(0, 1).toUpperCase() + word.substring(1));
    }
    Exception last = new Wire.Absent(request.getClass().getSimpleName() + " has no " + name);
    for (Method setter : request.getClass().getMethods()) {
      if (!setter.getName().contentEquals(camel) || setter.getParameterCount() != 1) continue;
      try {
        setter.invoke(request, convert(value, setter.getGenericParameterTypes()[0]));
        return;
      } catch (IllegalArgumentException | InvocationTargetException misfit) {
        last = misfit;
      }
    }
    throw last;
  }

  private static Object convert(JsonNode value, Type type) throws Exception {
    if (type == Object.class) {
      if (value.has("upload")) return new File(value.get("upload").asText());
      return value.isNumber() ? (Object) value.asLong() : value.asText();
    }
    if (type == File.class || type == byte[].class) {
      if (type == File.class && value.has("upload")) return new File(value.get("upload").asText());
      throw new IllegalArgumentException("no file");
    }
    if (type == String.class) {
      if (value.isTextual()) return value.asText();
      throw new IllegalArgumentException("no text");
    }
    Class<?> kind = rawOf(type);
    if (kind == InputMedia.class) return photo(value);
    if (kind == InlineQueryResult.class) return article(value);
    if (kind == Keyboard.class) return gson(value, keyboardOf(value));
    if (kind.isArray()) {
      if (!value.isArray()) throw new IllegalArgumentException("no list");
      Object items = Array.newInstance(kind.getComponentType(), value.size());
      Type item = type instanceof GenericArrayType array ? array.getGenericComponentType() : kind.getComponentType();
      for (int index = 0; index < value.size(); index++) Array.set(items, index, convert(value.get(index), item));
      return items;
    }
    return gson(value, type);
  }

  private static Object gson(JsonNode value, Type type) {
    JsonElement json = GSON.fromJson(value.toString(), JsonElement.class);
    try {
      return GSON.fromJson(json, type);
    } catch (RuntimeException misfit) {
      throw new IllegalArgumentException(misfit);
    }
  }

  private static Class<?> rawOf(Type type) {
    if (type instanceof ParameterizedType generic) return (Class<?>) generic.getRawType();
    if (type instanceof GenericArrayType array) {
      return Array.newInstance(rawOf(array.getGenericComponentType()), 0).getClass();
    }
    return (Class<?>) type;
  }

  private static Class<?> keyboardOf(JsonNode value) {
    if (value.has("inline_keyboard")) return InlineKeyboardMarkup.class;
    if (value.has("keyboard")) return ReplyKeyboardMarkup.class;
    return value.has("remove_keyboard") ? ReplyKeyboardRemove.class : ForceReply.class;
  }

  private static InputMedia<?> photo(JsonNode value) {
    InputMediaPhoto photo = new InputMediaPhoto(new File(value.get("media").get("upload").asText()));
    return value.has("caption") ? photo.caption(value.get("caption").asText()) : photo;
  }

  private static InlineQueryResult<?> article(JsonNode value) {
    String said = value.get("input_message_content").get("message_text").asText();
    return new InlineQueryResultArticle(
        value.get("id").asText(), value.get("title").asText(), new InputTextMessageContent(said));
  }
}
