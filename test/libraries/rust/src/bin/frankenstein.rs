//! frankenstein behind the protocol of test/libraries/bot-process.ts.
use chapar_libraries::{failed, listen, say, serve, started, sum_of, version_of, with_paths, Failure};
use frankenstein::client_reqwest::Bot;
use frankenstein::methods::{self, GetUpdatesParams, SendMessageParams};
use frankenstein::updates::{Update, UpdateContent};
use frankenstein::{AsyncTelegramApi, Error};
use serde_json::{json, Value};
use tokio::sync::mpsc::unbounded_channel;

/// Calls of the library by the names of the bot API.
macro_rules! call {
    ($bot:expr, $method:expr, $parameters:expr; $($name:literal $function:ident $params:ident)*) => {
        match $method {
            "getMe" => result($bot.get_me().await),
            "getWebhookInfo" => result($bot.get_webhook_info().await),
            $($name => {
                let params: methods::$params = serde_json::from_value($parameters).map_err(failed)?;
                result($bot.$function(&params).await)
            })*
            _ => Err(Failure::Absent(format!("{} is not tried", $method))),
        }
    };
}

type Response<Output> = Result<frankenstein::response::MethodResponse<Output>, Error>;

fn result<Output: serde::Serialize>(response: Response<Output>) -> Result<Value, Failure> {
    match response {
        Ok(response) => serde_json::to_value(response.result).map_err(failed),
        Err(Error::Api(refused)) => Err(Failure::Refused(Some(refused.error_code), refused.description)),
        Err(error) => Err(failed(error)),
    }
}

async fn ask(bot: Bot, files: String, method: String, mut parameters: Value) -> Result<Value, Failure> {
    with_paths(&mut parameters);
    if parameters.get("receiver_user_id").is_some() {
        return Err(Failure::Absent("a message of frankenstein has no ephemeral_message_id".to_string()));
    }
    if method == "download" {
        let params = methods::GetFileParams::builder().file_id(parameters.as_str().unwrap()).build();
        let file = bot.get_file(&params).await.map_err(failed)?.result;
        let url = format!("{files}/{}", file.file_path.unwrap());
        let answer = bot.client.get(url).send().await.map_err(failed)?;
        return Ok(sum_of(&answer.bytes().await.map_err(failed)?));
    }
    call!(bot, method.as_str(), parameters;
        "sendMessage" send_message SendMessageParams
        "editMessageText" edit_message_text EditMessageTextParams
        "deleteMessage" delete_message DeleteMessageParams
        "answerCallbackQuery" answer_callback_query AnswerCallbackQueryParams
        "editMessageReplyMarkup" edit_message_reply_markup EditMessageReplyMarkupParams
        "sendPoll" send_poll SendPollParams
        "stopPoll" stop_poll StopPollParams
        "sendDice" send_dice SendDiceParams
        "setMessageReaction" set_message_reaction SetMessageReactionParams
        "sendChatAction" send_chat_action SendChatActionParams
        "sendMessageDraft" send_message_draft SendMessageDraftParams
        "setWebhook" set_webhook SetWebhookParams
        "deleteWebhook" delete_webhook DeleteWebhookParams
        "sendPhoto" send_photo SendPhotoParams
        "sendDocument" send_document SendDocumentParams
        "sendAudio" send_audio SendAudioParams
        "sendVoice" send_voice SendVoiceParams
        "sendVideo" send_video SendVideoParams
        "sendAnimation" send_animation SendAnimationParams
        "sendSticker" send_sticker SendStickerParams
        "sendMediaGroup" send_media_group SendMediaGroupParams
        "editMessageCaption" edit_message_caption EditMessageCaptionParams
        "editMessageMedia" edit_message_media EditMessageMediaParams
        "sendLocation" send_location SendLocationParams
        "editMessageLiveLocation" edit_message_live_location EditMessageLiveLocationParams
        "stopMessageLiveLocation" stop_message_live_location StopMessageLiveLocationParams
        "sendVenue" send_venue SendVenueParams
        "sendContact" send_contact SendContactParams
        "forwardMessage" forward_message ForwardMessageParams
        "copyMessage" copy_message CopyMessageParams
        "pinChatMessage" pin_chat_message PinChatMessageParams
        "unpinChatMessage" unpin_chat_message UnpinChatMessageParams
        "getChat" get_chat GetChatParams
        "getChatMemberCount" get_chat_member_count GetChatMemberCountParams
        "getChatMember" get_chat_member GetChatMemberParams
        "getChatAdministrators" get_chat_administrators GetChatAdministratorsParams
        "promoteChatMember" promote_chat_member PromoteChatMemberParams
        "restrictChatMember" restrict_chat_member RestrictChatMemberParams
        "banChatMember" ban_chat_member BanChatMemberParams
        "unbanChatMember" unban_chat_member UnbanChatMemberParams
        "createChatInviteLink" create_chat_invite_link CreateChatInviteLinkParams
        "revokeChatInviteLink" revoke_chat_invite_link RevokeChatInviteLinkParams
        "approveChatJoinRequest" approve_chat_join_request ApproveChatJoinRequestParams
        "createForumTopic" create_forum_topic CreateForumTopicParams
        "editForumTopic" edit_forum_topic EditForumTopicParams
        "closeForumTopic" close_forum_topic CloseForumTopicParams
        "deleteForumTopic" delete_forum_topic DeleteForumTopicParams
        "setChatTitle" set_chat_title SetChatTitleParams
        "setChatDescription" set_chat_description SetChatDescriptionParams
        "setChatPermissions" set_chat_permissions SetChatPermissionsParams
        "setMyCommands" set_my_commands SetMyCommandsParams
        "getMyCommands" get_my_commands GetMyCommandsParams
        "deleteMyCommands" delete_my_commands DeleteMyCommandsParams
        "answerInlineQuery" answer_inline_query AnswerInlineQueryParams
        "sendInvoice" send_invoice SendInvoiceParams
        "createInvoiceLink" create_invoice_link CreateInvoiceLinkParams
        "sendGame" send_game SendGameParams
        "setGameScore" set_game_score SetGameScoreParams
        "getGameHighScores" get_game_high_scores GetGameHighScoresParams
        "getStickerSet" get_sticker_set GetStickerSetParams
        "answerPreCheckoutQuery" answer_pre_checkout_query AnswerPreCheckoutQueryParams
        "uploadStickerFile" upload_sticker_file UploadStickerFileParams
        "createNewStickerSet" create_new_sticker_set CreateNewStickerSetParams
        "addStickerToSet" add_sticker_to_set AddStickerToSetParams
        "deleteStickerSet" delete_sticker_set DeleteStickerSetParams
        "sendRichMessage" send_rich_message SendRichMessageParams
        "sendChecklist" send_checklist SendChecklistParams
    )
}

#[tokio::main]
async fn main() {
    let start = started();
    let (address, key) = (start.address, start.key);

    // snippet
    let bot = Bot::new_url(format!("{address}/bot{key}"));
    let echo = |bot: Bot, update: Update| async move {
        let UpdateContent::Message(message) = update.content else { return };
        let Some(words) = message.text.as_deref().and_then(|text| text.strip_prefix("/echo ")) else { return };
        let params = SendMessageParams::builder()
            .chat_id(message.chat.id)
            .text(format!("echo {words}"))
            .build();
        if let Err(error) = bot.send_message(&params).await {
            eprintln!("{error}");
        }
    };
    // end

    let handle = move |bot: Bot, update: Update| async move {
        say(&json!({ "update": update }));
        echo(bot, update).await;
    };
    let files = format!("{address}/file/bot{key}");
    let receiving = bot.clone();
    if let Some(hook) = start.webhook {
        let (sender, mut updates) = unbounded_channel();
        listen(&hook, sender).await;
        tokio::spawn(async move {
            while let Some(body) = updates.recv().await {
                handle(receiving.clone(), serde_json::from_value(body).unwrap()).await;
            }
        });
        let parameters = json!({
            "url": hook.url,
            "secret_token": hook.secret,
            "allowed_updates": start.allowed_updates,
        });
        bot.set_webhook(&serde_json::from_value(parameters).unwrap()).await.unwrap();
    } else {
        let parameters = json!({ "timeout": 20, "allowed_updates": start.allowed_updates });
        let mut params: GetUpdatesParams = serde_json::from_value(parameters).unwrap();
        tokio::spawn(async move {
            loop {
                let Ok(response) = receiving.get_updates(&params).await else {
                    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
                    continue;
                };
                for update in response.result {
                    params.offset = Some(i64::from(update.update_id) + 1);
                    handle(receiving.clone(), update).await;
                }
            }
        });
    }
    serve(version_of("frankenstein"), move |method, parameters| ask(bot.clone(), files.clone(), method, parameters)).await;
}
