// gotgbot behind the protocol of test/libraries/bot-process.ts.
package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"

	"chapar.test/libraries/wire"
	"github.com/PaulSonOfLars/gotgbot/v2"
	"github.com/PaulSonOfLars/gotgbot/v2/ext"
	"github.com/PaulSonOfLars/gotgbot/v2/ext/handlers"
)

// required are the parameters that methods take before their options. Most take a chat first, and these nothing else.
var required = map[string]string{
	"addStickerToSet":         "user_id name sticker",
	"answerCallbackQuery":     "callback_query_id",
	"answerInlineQuery":       "inline_query_id results",
	"answerPreCheckoutQuery":  "pre_checkout_query_id ok",
	"approveChatJoinRequest":  "chat_id user_id",
	"banChatMember":           "chat_id user_id",
	"closeForumTopic":         "chat_id message_thread_id",
	"copyMessage":             "chat_id from_chat_id message_id",
	"createForumTopic":        "chat_id name",
	"createInvoiceLink":       "title description payload currency prices",
	"createNewStickerSet":     "user_id name title stickers",
	"deleteForumTopic":        "chat_id message_thread_id",
	"deleteMessage":           "chat_id message_id",
	"deleteMyCommands":        "",
	"deleteStickerSet":        "name",
	"deleteWebhook":           "",
	"editForumTopic":          "chat_id message_thread_id",
	"editMessageCaption":      "",
	"editMessageLiveLocation": "latitude longitude",
	"editMessageMedia":        "media",
	"editMessageReplyMarkup":  "",
	"editMessageText":         "text",
	"forwardMessage":          "chat_id from_chat_id message_id",
	"getAvailableGifts":       "",
	"getChatMember":           "chat_id user_id",
	"getGameHighScores":       "user_id",
	"getMe":                   "",
	"getMyCommands":           "",
	"getStickerSet":           "name",
	"getWebhookInfo":          "",
	"pinChatMessage":          "chat_id message_id",
	"promoteChatMember":       "chat_id user_id",
	"restrictChatMember":      "chat_id user_id permissions",
	"revokeChatInviteLink":    "chat_id invite_link",
	"sendAnimation":           "chat_id animation",
	"sendAudio":               "chat_id audio",
	"sendChatAction":          "chat_id action",
	"sendChecklist":           "business_connection_id chat_id checklist",
	"sendContact":             "chat_id phone_number first_name",
	"sendDocument":            "chat_id document",
	"sendGame":                "chat_id game_short_name",
	"sendGift":                "gift_id",
	"sendInvoice":             "chat_id title description payload currency prices",
	"sendLocation":            "chat_id latitude longitude",
	"sendMediaGroup":          "chat_id media",
	"sendMessage":             "chat_id text",
	"sendPaidMedia":           "chat_id star_count media",
	"sendPhoto":               "chat_id photo",
	"sendPoll":                "chat_id question options",
	"sendSticker":             "chat_id sticker",
	"sendVenue":               "chat_id latitude longitude title address",
	"sendVideo":               "chat_id video",
	"sendVoice":               "chat_id voice",
	"setChatPermissions":      "chat_id permissions",
	"setChatTitle":            "chat_id title",
	"setGameScore":            "user_id score",
	"setMessageReaction":      "chat_id message_id",
	"setMyCommands":           "commands",
	"setWebhook":              "url",
	"stopMessageLiveLocation": "",
	"stopPoll":                "chat_id message_id",
	"unbanChatMember":         "chat_id user_id",
	"uploadStickerFile":       "user_id sticker sticker_format",
}

func main() {
	start := wire.Started()
	address, key := start.Address, start.Key

	// snippet
	client := &gotgbot.BaseBotClient{
		DefaultRequestOpts: &gotgbot.RequestOpts{APIURL: address, Timeout: time.Minute},
	}
	bot, err := gotgbot.NewBot(key, &gotgbot.BotOpts{BotClient: client})
	if err != nil {
		panic(err)
	}
	echo := func(bot *gotgbot.Bot, ctx *ext.Context) error {
		words := strings.Join(ctx.Args()[1:], " ")
		_, err := ctx.EffectiveChat.SendMessage(bot, "echo "+words, nil)
		return err
	}
	dispatcher := ext.NewDispatcher(nil)
	dispatcher.AddHandler(handlers.NewCommand("echo", echo))
	updater := ext.NewUpdater(dispatcher, nil)
	// end

	dispatcher.AddHandlerToGroup(heard{}, -1)
	receive(bot, updater, start)
	download := func(fileID string) (io.ReadCloser, error) {
		file, err := bot.GetFile(fileID, nil)
		if err != nil {
			return nil, err
		}
		answer, err := http.Get(file.URL(bot, nil))
		if err != nil {
			return nil, err
		}
		return answer.Body, nil
	}
	call := func(method string, parameters wire.Parameters) (any, error) {
		result, err := invoke(bot, method, parameters)
		var refused *gotgbot.TelegramError
		if errors.As(err, &refused) {
			return nil, wire.Refused{Code: refused.Code, Description: refused.Description}
		}
		return result, err
	}
	wire.Serve(wire.Version("github.com/PaulSonOfLars/gotgbot/v2"), call, download)
}

// heard passes each update on, and leaves it to the other handlers.
type heard struct{}

func (heard) Name() string { return "heard" }

func (heard) CheckUpdate(*gotgbot.Bot, *ext.Context) bool { return true }

func (heard) HandleUpdate(_ *gotgbot.Bot, ctx *ext.Context) error {
	wire.Tell(ctx.Update)
	return nil
}

func receive(bot *gotgbot.Bot, updater *ext.Updater, start wire.Start) {
	var err error
	if hook := start.Webhook; hook == nil {
		options := &gotgbot.GetUpdatesOpts{
			Timeout:        20,
			AllowedUpdates: start.AllowedUpdates,
			RequestOpts:    &gotgbot.RequestOpts{APIURL: start.Address, Timeout: time.Minute},
		}
		err = updater.StartPolling(bot, &ext.PollingOpts{GetUpdatesOpts: options})
	} else {
		listen := fmt.Sprintf("127.0.0.1:%d", hook.Port)
		options := ext.WebhookOpts{ListenAddr: listen, SecretToken: hook.Secret}
		if err = updater.StartWebhook(bot, strings.TrimPrefix(hook.Path, "/"), options); err == nil {
			terms := &gotgbot.SetWebhookOpts{SecretToken: hook.Secret, AllowedUpdates: start.AllowedUpdates}
			_, err = bot.SetWebhook(hook.URL, terms)
		}
	}
	if err != nil {
		panic(err)
	}
}

// invoke calls func([required, …] *Opts) (result, [bool,] error).
func invoke(bot *gotgbot.Bot, method string, parameters wire.Parameters) (any, error) {
	function := reflect.ValueOf(bot).MethodByName(strings.ToUpper(method[:1]) + method[1:])
	if !function.IsValid() {
		return nil, wire.Absent("gotgbot has no " + method)
	}
	names, isKnown := required[method]
	if !isKnown {
		names = "chat_id"
	}
	kind := function.Type()
	arguments := []reflect.Value{}
	for index, name := range strings.Fields(names) {
		argument := reflect.New(kind.In(index)).Elem()
		if err := wire.Fill(argument, parameters[name], custom); err != nil {
			return nil, err
		}
		arguments = append(arguments, argument)
		delete(parameters, name)
	}
	options := reflect.New(kind.In(len(arguments)).Elem())
	for name, value := range parameters {
		field := options.Elem().FieldByName(camel(name))
		if !field.IsValid() {
			return nil, wire.Absent(fmt.Sprintf("%s of gotgbot has no %s", method, name))
		}
		if err := wire.Fill(field, value, custom); err != nil {
			return nil, err
		}
	}
	results := function.Call(append(arguments, options))
	err, _ := results[len(results)-1].Interface().(error)
	return results[0].Interface(), err
}

func camel(name string) string {
	words := strings.Split(name, "_")
	for index, word := range words {
		words[index] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

func custom(kind reflect.Type, value any) any {
	members, _ := value.(map[string]any)
	fill := func(target any) any {
		if err := wire.Fill(reflect.ValueOf(target).Elem(), value, custom); err != nil {
			panic(err)
		}
		return reflect.ValueOf(target).Elem().Interface()
	}
	switch kind.Name() {
	case "InputFile", "InputFileOrString":
		if file, name := wire.Upload(value); file != nil {
			return gotgbot.InputFileByReader(name, file)
		}
		return gotgbot.InputFileByID(value.(string))
	case "ReplyMarkup":
		switch {
		case members["inline_keyboard"] != nil:
			return fill(&gotgbot.InlineKeyboardMarkup{})
		case members["keyboard"] != nil:
			return fill(&gotgbot.ReplyKeyboardMarkup{})
		case members["remove_keyboard"] != nil:
			return fill(&gotgbot.ReplyKeyboardRemove{})
		default:
			return fill(&gotgbot.ForceReply{})
		}
	case "InputMedia":
		delete(members, "type")
		return fill(&gotgbot.InputMediaPhoto{})
	case "InputPaidMedia":
		delete(members, "type")
		return fill(&gotgbot.InputPaidMediaPhoto{})
	case "InlineQueryResult":
		delete(members, "type")
		return fill(&gotgbot.InlineQueryResultArticle{})
	case "InputMessageContent":
		return fill(&gotgbot.InputTextMessageContent{})
	case "ReactionType":
		delete(members, "type")
		return fill(&gotgbot.ReactionTypeEmoji{})
	}
	return nil
}
