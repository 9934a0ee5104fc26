//! telers behind the protocol of test/libraries/bot-process.ts.
use std::borrow::Cow;
use std::marker::PhantomData;

use chapar_libraries::{failed, say, serve, started, sum_of, version_of, Failure, Start};
use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::{json, Value};
use telers::client::telegram::{APIServer, BareFilesPathWrapper};
use telers::client::Reqwest;
use telers::errors::{SessionErrorKind, TelegramErrorKind};
use telers::event::telegram::{Handler, HandlerResult};
use telers::methods::{Request, SendMessage, SetWebhook, TelegramMethod};
use telers::types::*;
use telers::webhooks::axum::{get_updates_router, UpdatesHandler};
use telers::{Bot, Dispatcher, Either, Router};

/// A call whose parameters are given, and whose result is of the library's type.
struct Call<Output> {
    name: &'static str,
    parameters: Value,
    files: Vec<InputFile>,
    output: PhantomData<fn() -> Output>,
}

impl<Output: DeserializeOwned> TelegramMethod for Call<Output> {
    type Method = Value;
    type Return = Output;

    fn build_request<Client>(self, _bot: &Bot<Client>) -> Request<Value> {
        Request::new(self.name, self.parameters, Some(self.files))
    }
}

/// Puts the names under which files are sent in the place of `{"upload", "name"}`.
fn take_files(value: &mut Value, files: &mut Vec<InputFile>) {
    match value {
        Value::Object(members) if members.contains_key("upload") => {
            let text = |name: &str| members[name].as_str().unwrap().to_owned();
            let file = InputFile::fs_with_name(text("upload"), text("name"));
            *value = json!(file.str_to_file());
            files.push(file);
        }
        Value::Object(members) => members.values_mut().for_each(|member| take_files(member, files)),
        Value::Array(items) => items.iter_mut().for_each(|item| take_files(item, files)),
        _ => {}
    }
}

async fn done<Output>(bot: &Bot, name: &'static str, mut parameters: Value) -> Result<Value, Failure>
where
    Output: DeserializeOwned + Serialize + Send + Sync,
{
    let mut files = vec![];
    take_files(&mut parameters, &mut files);
    match bot.send(Call::<Output> { name, parameters, files, output: PhantomData }).await {
        Ok(output) => serde_json::to_value(output).map_err(failed),
        Err(SessionErrorKind::Telegram(TelegramErrorKind::RetryAfter { message, .. })) => {
            Err(Failure::Refused(Some(429), message.into()))
        }
        Err(SessionErrorKind::Telegram(refused)) => Err(Failure::Refused(None, refused.to_string())),
        Err(error) => Err(failed(error)),
    }
}

/// Calls by the names of the bot API, with the types of their results.
macro_rules! ask {
    ($bot:expr, $method:expr, $given:expr; $($Output:ty: $($name:literal)*;)*) => {
        match $method {
            $($($name => done::<$Output>($bot, $name, $given).await,)*)*
            _ => Err(Failure::Absent(format!("{} is not tried", $method))),
        }
    };
}

async fn call(bot: Bot, method: String, given: Value) -> Result<Value, Failure> {
    if method == "download" {
        let file = bot.download(given.as_str().unwrap()).await.map_err(failed)?;
        return Ok(sum_of(&file.bytes().await.map_err(failed)?));
    }
    ask!(&bot, method.as_str(), given;
        User: "getMe";
        Message: "sendMessage" "sendPhoto" "sendDocument" "sendAudio" "sendVoice" "sendVideo" "sendAnimation" "sendSticker"
            "sendLocation" "sendVenue" "sendContact" "sendPoll" "sendDice" "sendInvoice" "sendGame" "sendPaidMedia"
            "sendLivePhoto" "sendRichMessage" "sendChecklist" "forwardMessage";
        Either<Message, bool>: "editMessageText" "editMessageReplyMarkup" "editMessageCaption" "editMessageMedia"
            "editMessageLiveLocation" "stopMessageLiveLocation" "setGameScore";
        Vec<Message>: "sendMediaGroup";
        MessageId: "copyMessage";
        Poll: "stopPoll";
        bool: "deleteMessage" "answerCallbackQuery" "answerInlineQuery" "answerPreCheckoutQuery" "setMessageReaction"
            "sendChatAction" "sendMessageDraft" "setWebhook" "deleteWebhook" "pinChatMessage" "unpinChatMessage"
            "promoteChatMember" "restrictChatMember" "banChatMember" "unbanChatMember" "approveChatJoinRequest"
            "editForumTopic" "closeForumTopic" "deleteForumTopic" "setChatTitle" "setChatDescription"
            "setChatPermissions" "setMyCommands" "deleteMyCommands" "createNewStickerSet" "addStickerToSet"
            "deleteStickerSet" "sendGift";
        ChatFullInfo: "getChat";
        i64: "getChatMemberCount";
        ChatMember: "getChatMember";
        Vec<ChatMember>: "getChatAdministrators";
        ChatInviteLink: "createChatInviteLink" "revokeChatInviteLink";
        ForumTopic: "createForumTopic";
        Vec<BotCommand>: "getMyCommands";
        String: "createInvoiceLink";
        Vec<GameHighScore>: "getGameHighScores";
        StickerSet: "getStickerSet";
        File: "uploadStickerFile";
        Gifts: "getAvailableGifts";
        WebhookInfo: "getWebhookInfo";
    )
}

async fn receive(bot: Bot, start: Start, router: Router<Reqwest>) {
    let router = router.on_update_middleware(|request: telers::Request, next: telers::middlewares::outer::Next| {
        say(&json!({ "update": *request.update }));
        next(request)
    });
    let builder = Dispatcher::builder().main_router(router.configure_default()).bot(bot.clone());
    let Some(hook) = start.webhook else {
        let dispatcher = builder.polling_timeout(20).allowed_updates(start.allowed_updates).build();
        tokio::spawn(async move { dispatcher.run_polling().await });
        return;
    };
    let handler = UpdatesHandler::new(bot.clone(), builder.build()).secret_token(hook.secret.clone());
    let app = axum::Router::new().route(&hook.path, get_updates_router(handler));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", hook.port)).await.unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let method = SetWebhook::new(hook.url).secret_token(hook.secret).allowed_updates(start.allowed_updates);
    bot.send(method).await.unwrap();
}

#[tokio::main]
async fn main() {
    let start = started();
    let (address, key) = (&start.address, start.key.clone());

    // snippet
    let server = APIServer::new(
        &format!("{address}/bot{{token}}/{{method_name}}"),
        &format!("{address}/file/bot{{token}}/{{path}}"),
        false,
        BareFilesPathWrapper,
    );
    let bot = Bot::with_client(key, Reqwest::default().with_api_server(Cow::Owned(server)));
    async fn echo(bot: Bot, message: Message) -> HandlerResult<()> {
        if let Some(words) = message.text().and_then(|text| text.strip_prefix("/echo ")) {
            bot.send(SendMessage::new(message.chat().id(), format!("echo {words}"))).await?;
        }
        Ok(())
    }
    let router = Router::new("main").on_message(|observer| observer.register(Handler::new(echo)));
    // end

    receive(bot.clone(), start, router).await;
    serve(version_of("telers"), move |method, parameters| call(bot.clone(), method, parameters)).await;
}
