//! teloxide behind the protocol of test/libraries/bot-process.ts.
use std::time::Duration;

use chapar_libraries::{failed, say, serve, started, sum_of, version_of, Failure, Start};
use serde::Serialize;
use serde_json::{json, Value};
use teloxide::dispatching::UpdateHandler;
use teloxide::error_handlers::LoggingErrorHandler;
use teloxide::net::Download;
use teloxide::payloads;
use teloxide::prelude::*;
use teloxide::requests::{JsonRequest, MultipartRequest};
use teloxide::types::*;
use teloxide::update_listeners::{webhooks, Polling};
use teloxide::utils::command::BotCommands;
use teloxide::{ApiError, RequestError};
use url::Url;

/// A parameter as the library has it.
trait Given: Sized {
    fn given(value: Value) -> Result<Self, Failure>;
}

macro_rules! given_as_json {
    ($($kind:ty)*) => {
        $(impl Given for $kind {
            fn given(value: Value) -> Result<Self, Failure> {
                serde_json::from_value(value).map_err(failed)
            }
        })*
    };
}

given_as_json!(
    bool f64 u32 u8 String Url Recipient ChatId UserId ThreadId CallbackQueryId InlineQueryId
    PreCheckoutQueryId FileId MessageEntity ParseMode ReplyMarkup InlineKeyboardMarkup ReplyParameters ReactionType
    InputPollOption ChatAction DiceEmoji ChatPermissions BotCommand LabeledPrice InlineQueryResult StickerFormat
    AllowedUpdate BusinessConnectionId
);

impl<T: Given> Given for Vec<T> {
    fn given(value: Value) -> Result<Self, Failure> {
        match value {
            Value::Array(items) => items.into_iter().map(T::given).collect(),
            other => Err(failed(format!("{other} is no list"))),
        }
    }
}

impl Given for InputFile {
    fn given(value: Value) -> Result<Self, Failure> {
        match value {
            Value::String(id) => Ok(InputFile::file_id(id.into())),
            file => {
                let path = file["upload"].as_str().unwrap().to_owned();
                Ok(InputFile::file(path).file_name(file["name"].as_str().unwrap().to_owned()))
            }
        }
    }
}

impl Given for InputMedia {
    fn given(mut value: Value) -> Result<Self, Failure> {
        let photo = InputMediaPhoto::new(InputFile::given(value["media"].take())?);
        Ok(InputMedia::Photo(match value["caption"].as_str() {
            Some(caption) => photo.caption(caption),
            None => photo,
        }))
    }
}

impl Given for InputSticker {
    fn given(mut value: Value) -> Result<Self, Failure> {
        Ok(InputSticker {
            sticker: InputFile::given(value["sticker"].take())?,
            format: StickerFormat::given(value["format"].take())?,
            emoji_list: Vec::given(value["emoji_list"].take())?,
            mask_position: None,
            keywords: vec![],
        })
    }
}

impl Given for MessageId {
    fn given(value: Value) -> Result<Self, Failure> {
        serde_json::from_value(value).map(MessageId).map_err(failed)
    }
}

impl Given for LivePeriod {
    fn given(value: Value) -> Result<Self, Failure> {
        Ok(LivePeriod::Timeframe(Seconds::from_seconds(u32::given(value)?)))
    }
}

fn optional<T: Given>(given: &mut Value, name: &str) -> Result<Option<T>, Failure> {
    match given.as_object_mut().and_then(|members| members.remove(name)) {
        Some(value) => T::given(value).map(Some),
        None => Ok(None),
    }
}

fn required<T: Given>(given: &mut Value, name: &str) -> Result<T, Failure> {
    optional(given, name)?.ok_or_else(|| Failure::Absent(format!("a call without {name} is not tried")))
}

fn result<Output: Serialize>(answer: Result<Output, RequestError>) -> Result<Value, Failure> {
    match answer {
        Ok(output) => serde_json::to_value(output).map_err(failed),
        Err(RequestError::Api(ApiError::Unknown(description))) => Err(Failure::Refused(None, description)),
        Err(RequestError::Api(refused)) => Err(Failure::Refused(None, refused.to_string())),
        Err(error) => Err(failed(error)),
    }
}

/// Requests by the names of the bot API: the payload, its required fields with their types, and optional fields.
macro_rules! ask {
    (
        $bot:expr, $method:expr, $given:expr;
        $($name:literal $Request:ident $Payload:ident [$($field:ident: $Kind:ty),*] [$($option:ident)*])*
    ) => {
        match $method {
            $($name => {
                #[allow(unused_mut)]
                let mut payload = payloads::$Payload::new($(required::<$Kind>(&mut $given, stringify!($field))?),*);
                $(payload.$option = optional(&mut $given, stringify!($option))?;)*
                if let Some((left, _)) = $given.as_object().and_then(|members| members.iter().next()) {
                    return Err(Failure::Absent(format!("{} with {left} is not tried", $name)));
                }
                result($Request::new($bot, payload).await)
            })*
            _ => Err(Failure::Absent(format!("{} is not tried", $method))),
        }
    };
}

async fn call(bot: Bot, method: String, mut given: Value) -> Result<Value, Failure> {
    if method == "download" {
        let file = bot.get_file(FileId(given.as_str().unwrap().to_owned())).await.map_err(failed)?;
        let mut bytes = Vec::new();
        bot.download_file(&file.path, &mut bytes).await.map_err(failed)?;
        return Ok(sum_of(&bytes));
    }
    if method == "getWebhookInfo" {
        let info = bot.get_webhook_info().await.map_err(failed)?;
        let url = info.url.as_ref().map_or("", Url::as_str);
        return Ok(json!({ "url": url, "pending_update_count": info.pending_update_count }));
    }
    ask!(bot, method.as_str(), given;
        "getMe" JsonRequest GetMe [] []
        "sendMessage" JsonRequest SendMessage [chat_id: Recipient, text: String]
            [message_thread_id parse_mode entities reply_parameters reply_markup]
        "editMessageText" JsonRequest EditMessageText [chat_id: Recipient, message_id: MessageId, text: String] []
        "editMessageReplyMarkup" JsonRequest EditMessageReplyMarkup [chat_id: Recipient, message_id: MessageId]
            [reply_markup]
        "editMessageCaption" JsonRequest EditMessageCaption [chat_id: Recipient, message_id: MessageId] [caption]
        "editMessageMedia" MultipartRequest EditMessageMedia
            [chat_id: Recipient, message_id: MessageId, media: InputMedia] []
        "deleteMessage" JsonRequest DeleteMessage [chat_id: Recipient, message_id: MessageId] []
        "answerCallbackQuery" JsonRequest AnswerCallbackQuery [callback_query_id: CallbackQueryId] [text show_alert url]
        "answerInlineQuery" JsonRequest AnswerInlineQuery
            [inline_query_id: InlineQueryId, results: Vec<InlineQueryResult>] [cache_time]
        "answerPreCheckoutQuery" JsonRequest AnswerPreCheckoutQuery
            [pre_checkout_query_id: PreCheckoutQueryId, ok: bool] []
        "sendPoll" JsonRequest SendPoll [chat_id: Recipient, question: String, options: Vec<InputPollOption>]
            [is_anonymous]
        "stopPoll" JsonRequest StopPoll [chat_id: Recipient, message_id: MessageId] []
        "sendDice" JsonRequest SendDice [chat_id: Recipient] [emoji]
        "setMessageReaction" JsonRequest SetMessageReaction [chat_id: Recipient, message_id: MessageId] [reaction]
        "sendChatAction" JsonRequest SendChatAction [chat_id: Recipient, action: ChatAction] []
        "deleteWebhook" JsonRequest DeleteWebhook [] [drop_pending_updates]
        "setWebhook" MultipartRequest SetWebhook [url: Url] [secret_token max_connections allowed_updates]
        "sendPhoto" MultipartRequest SendPhoto [chat_id: Recipient, photo: InputFile] [caption parse_mode]
        "sendDocument" MultipartRequest SendDocument [chat_id: Recipient, document: InputFile] []
        "sendAudio" MultipartRequest SendAudio [chat_id: Recipient, audio: InputFile] []
        "sendVoice" MultipartRequest SendVoice [chat_id: Recipient, voice: InputFile] []
        "sendVideo" MultipartRequest SendVideo [chat_id: Recipient, video: InputFile] []
        "sendAnimation" MultipartRequest SendAnimation [chat_id: Recipient, animation: InputFile] []
        "sendSticker" MultipartRequest SendSticker [chat_id: Recipient, sticker: InputFile] []
        "sendMediaGroup" MultipartRequest SendMediaGroup [chat_id: Recipient, media: Vec<InputMedia>] []
        "sendLocation" JsonRequest SendLocation [chat_id: Recipient, latitude: f64, longitude: f64] [live_period]
        "editMessageLiveLocation" JsonRequest EditMessageLiveLocation
            [chat_id: Recipient, message_id: MessageId, latitude: f64, longitude: f64] []
        "stopMessageLiveLocation" JsonRequest StopMessageLiveLocation [chat_id: Recipient, message_id: MessageId] []
        "sendVenue" JsonRequest SendVenue
            [chat_id: Recipient, latitude: f64, longitude: f64, title: String, address: String] []
        "sendContact" JsonRequest SendContact [chat_id: Recipient, phone_number: String, first_name: String] []
        "forwardMessage" JsonRequest ForwardMessage
            [chat_id: Recipient, from_chat_id: Recipient, message_id: MessageId] []
        "copyMessage" JsonRequest CopyMessage [chat_id: Recipient, from_chat_id: Recipient, message_id: MessageId] []
        "pinChatMessage" JsonRequest PinChatMessage [chat_id: Recipient, message_id: MessageId] []
        "unpinChatMessage" JsonRequest UnpinChatMessage [chat_id: Recipient] [message_id]
        "getChat" JsonRequest GetChat [chat_id: Recipient] []
        "getChatMemberCount" JsonRequest GetChatMemberCount [chat_id: Recipient] []
        "getChatMember" JsonRequest GetChatMember [chat_id: Recipient, user_id: UserId] []
        "getChatAdministrators" JsonRequest GetChatAdministrators [chat_id: Recipient] []
        "promoteChatMember" JsonRequest PromoteChatMember [chat_id: Recipient, user_id: UserId] [can_pin_messages]
        "restrictChatMember" JsonRequest RestrictChatMember
            [chat_id: Recipient, user_id: UserId, permissions: ChatPermissions] []
        "banChatMember" JsonRequest BanChatMember [chat_id: Recipient, user_id: UserId] []
        "unbanChatMember" JsonRequest UnbanChatMember [chat_id: Recipient, user_id: UserId] []
        "createChatInviteLink" JsonRequest CreateChatInviteLink [chat_id: Recipient] [name creates_join_request]
        "revokeChatInviteLink" JsonRequest RevokeChatInviteLink [chat_id: Recipient, invite_link: String] []
        "approveChatJoinRequest" JsonRequest ApproveChatJoinRequest [chat_id: Recipient, user_id: UserId] []
        "closeForumTopic" JsonRequest CloseForumTopic [chat_id: Recipient, message_thread_id: ThreadId] []
        "createForumTopic" JsonRequest CreateForumTopic [chat_id: Recipient, name: String] []
        "deleteForumTopic" JsonRequest DeleteForumTopic [chat_id: Recipient, message_thread_id: ThreadId] []
        "editForumTopic" JsonRequest EditForumTopic [chat_id: Recipient, message_thread_id: ThreadId] [name]
        "setChatTitle" JsonRequest SetChatTitle [chat_id: Recipient, title: String] []
        "setChatDescription" JsonRequest SetChatDescription [chat_id: Recipient] [description]
        "setChatPermissions" JsonRequest SetChatPermissions [chat_id: Recipient, permissions: ChatPermissions] []
        "setMyCommands" JsonRequest SetMyCommands [commands: Vec<BotCommand>] []
        "getMyCommands" JsonRequest GetMyCommands [] []
        "deleteMyCommands" JsonRequest DeleteMyCommands [] []
        "sendInvoice" JsonRequest SendInvoice
            [chat_id: Recipient, title: String, description: String, payload: String, currency: String,
                prices: Vec<LabeledPrice>]
            [provider_token]
        "createInvoiceLink" JsonRequest CreateInvoiceLink
            [title: String, description: String, payload: String, currency: String, prices: Vec<LabeledPrice>]
            [provider_token]
        "sendGame" JsonRequest SendGame [chat_id: ChatId, game_short_name: String] []
        "getStickerSet" JsonRequest GetStickerSet [name: String] []
        "uploadStickerFile" MultipartRequest UploadStickerFile
            [user_id: UserId, sticker: InputFile, sticker_format: StickerFormat] []
        "createNewStickerSet" MultipartRequest CreateNewStickerSet
            [user_id: UserId, name: String, title: String, stickers: Vec<InputSticker>] []
        "addStickerToSet" MultipartRequest AddStickerToSet [user_id: UserId, name: String, sticker: InputSticker] []
        "deleteStickerSet" JsonRequest DeleteStickerSet [name: String] []
    )
}

async fn receive(bot: Bot, start: Start, handler: UpdateHandler<RequestError>) {
    let allowed: Vec<AllowedUpdate> = serde_json::from_value(json!(start.allowed_updates)).unwrap();
    let mut dispatcher =
        Dispatcher::builder(bot.clone(), handler).default_handler(|_| async {}).distribution_function(|_| None::<()>).build();
    let errors = LoggingErrorHandler::new();
    let Some(hook) = start.webhook else {
        let listener = Polling::builder(bot).timeout(Duration::from_secs(10)).allowed_updates(allowed).build();
        tokio::spawn(async move { dispatcher.dispatch_with_listener(listener, errors).await });
        return;
    };
    let url: Url = hook.url.parse().unwrap();
    let options = webhooks::Options::new(([127, 0, 0, 1], hook.port).into(), url.clone())
        .path(hook.path)
        .secret_token(hook.secret.clone());
    // Its own setting of the webhook has no place for kinds of updates.
    let (listener, _, router) = webhooks::axum_no_setup(options);
    let socket = tokio::net::TcpListener::bind(("127.0.0.1", hook.port)).await.unwrap();
    tokio::spawn(async move { axum::serve(socket, router).await.unwrap() });
    tokio::spawn(async move { dispatcher.dispatch_with_listener(listener, errors).await });
    bot.set_webhook(url).secret_token(hook.secret).allowed_updates(allowed).await.unwrap();
}

#[tokio::main]
async fn main() {
    let start = started();
    let (address, key) = (&start.address, &start.key);

    // snippet
    #[derive(BotCommands, Clone)]
    #[command(rename_rule = "lowercase")]
    enum Command {
        Echo(String),
    }

    let bot = Bot::new(key).set_api_url(address.parse().unwrap());
    let echo = |bot: Bot, message: Message, Command::Echo(words): Command| async move {
        bot.send_message(message.chat.id, format!("echo {words}")).await?;
        respond(())
    };
    let commands = Update::filter_message().filter_command::<Command>().endpoint(echo);
    // end

    let tell = |update: Update| {
        let mut told = json!({ "update": update });
        // The library mixes the members of the voter into the answer.
        let answer = &mut told["update"]["poll_answer"];
        if answer.is_object() {
            answer["user"] = json!({ "id": answer["id"] });
        }
        say(&told);
    };
    receive(bot.clone(), start, dptree::entry().inspect(tell).branch(commands)).await;
    serve(version_of("teloxide"), move |method, parameters| call(bot.clone(), method, parameters)).await;
}
