// github.com/go-telegram-bot-api/telegram-bot-api behind the protocol of test/libraries/bot-process.ts.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"strings"

	"chapar.test/libraries/wire"
	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
)

// configs are the library's forms of the calls, which it has no other names for.
var configs = map[string]tgbotapi.Chattable{
	"sendMessage":             tgbotapi.MessageConfig{},
	"editMessageText":         tgbotapi.EditMessageTextConfig{},
	"editMessageReplyMarkup":  tgbotapi.EditMessageReplyMarkupConfig{},
	"editMessageCaption":      tgbotapi.EditMessageCaptionConfig{},
	"editMessageMedia":        tgbotapi.EditMessageMediaConfig{},
	"deleteMessage":           tgbotapi.DeleteMessageConfig{},
	"answerCallbackQuery":     tgbotapi.CallbackConfig{},
	"answerInlineQuery":       tgbotapi.InlineConfig{},
	"answerPreCheckoutQuery":  tgbotapi.PreCheckoutConfig{},
	"sendPoll":                tgbotapi.SendPollConfig{},
	"stopPoll":                tgbotapi.StopPollConfig{},
	"sendDice":                tgbotapi.DiceConfig{},
	"sendChatAction":          tgbotapi.ChatActionConfig{},
	"deleteWebhook":           tgbotapi.DeleteWebhookConfig{},
	"sendPhoto":               tgbotapi.PhotoConfig{},
	"sendDocument":            tgbotapi.DocumentConfig{},
	"sendAudio":               tgbotapi.AudioConfig{},
	"sendVoice":               tgbotapi.VoiceConfig{},
	"sendVideo":               tgbotapi.VideoConfig{},
	"sendAnimation":           tgbotapi.AnimationConfig{},
	"sendMediaGroup":          tgbotapi.MediaGroupConfig{},
	"sendLocation":            tgbotapi.LocationConfig{},
	"editMessageLiveLocation": tgbotapi.EditMessageLiveLocationConfig{},
	"stopMessageLiveLocation": tgbotapi.StopMessageLiveLocationConfig{},
	"sendVenue":               tgbotapi.VenueConfig{},
	"sendContact":             tgbotapi.ContactConfig{},
	"forwardMessage":          tgbotapi.ForwardConfig{},
	"copyMessage":             tgbotapi.CopyMessageConfig{},
	"pinChatMessage":          tgbotapi.PinChatMessageConfig{},
	"unpinChatMessage":        tgbotapi.UnpinChatMessageConfig{},
	"getChat":                 tgbotapi.ChatInfoConfig{},
	"getChatMemberCount":      tgbotapi.ChatMemberCountConfig{},
	"getChatMember":           tgbotapi.GetChatMemberConfig{},
	"getChatAdministrators":   tgbotapi.ChatAdministratorsConfig{},
	"promoteChatMember":       tgbotapi.PromoteChatMemberConfig{},
	"restrictChatMember":      tgbotapi.RestrictChatMemberConfig{},
	"banChatMember":           tgbotapi.BanChatMemberConfig{},
	"unbanChatMember":         tgbotapi.UnbanChatMemberConfig{},
	"createChatInviteLink":    tgbotapi.CreateChatInviteLinkConfig{},
	"revokeChatInviteLink":    tgbotapi.RevokeChatInviteLinkConfig{},
	"approveChatJoinRequest":  tgbotapi.ApproveChatJoinRequestConfig{},
	"setChatTitle":            tgbotapi.SetChatTitleConfig{},
	"setChatDescription":      tgbotapi.SetChatDescriptionConfig{},
	"setChatPermissions":      tgbotapi.SetChatPermissionsConfig{},
	"setMyCommands":           tgbotapi.SetMyCommandsConfig{},
	"getMyCommands":           tgbotapi.GetMyCommandsConfig{},
	"deleteMyCommands":        tgbotapi.DeleteMyCommandsConfig{},
	"sendInvoice":             tgbotapi.InvoiceConfig{},
	"sendGame":                tgbotapi.GameConfig{},
}

// results are the types of answers that are no message.
var results = map[string]any{
	"sendMediaGroup":        &[]tgbotapi.Message{},
	"stopPoll":              &tgbotapi.Poll{},
	"copyMessage":           &tgbotapi.MessageID{},
	"getChat":               &tgbotapi.Chat{},
	"getChatMemberCount":    new(int),
	"getChatMember":         &tgbotapi.ChatMember{},
	"getChatAdministrators": &[]tgbotapi.ChatMember{},
	"createChatInviteLink":  &tgbotapi.ChatInviteLink{},
	"revokeChatInviteLink":  &tgbotapi.ChatInviteLink{},
	"getMyCommands":         &[]tgbotapi.BotCommand{},
}

// tooOld tells what the library cannot hold or write.
var tooOld = map[string]string{
	"sendSticker":   "a sticker has no type",
	"getStickerSet": "a sticker has no type",
	"setGameScore":  "the score has a name of its own, which Telegram does not know",
}

// members are those whose names in the library are others.
var members = map[string]string{
	"photo": "File", "document": "File", "audio": "File", "voice": "File", "video": "File", "animation": "File",
	"ok": "OK",
}

var files = regexp.MustCompile(`^(photo|document|audio|voice|video|animation)$`)

func main() {
	start := wire.Started()
	address, key := start.Address, start.Key

	// snippet
	bot, err := tgbotapi.NewBotAPIWithAPIEndpoint(key, address+"/bot%s/%s")
	if err != nil {
		panic(err)
	}
	echo := func(update tgbotapi.Update) {
		if update.Message == nil || update.Message.Command() != "echo" {
			return
		}
		words := "echo " + update.Message.CommandArguments()
		if _, err := bot.Send(tgbotapi.NewMessage(update.Message.Chat.ID, words)); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	// end

	receive(bot, start, func(update tgbotapi.Update) {
		wire.Tell(update)
		echo(update)
	})
	call := func(method string, parameters wire.Parameters) (any, error) {
		result, err := ask(bot, method, parameters)
		var refused *tgbotapi.Error
		if errors.As(err, &refused) {
			return nil, wire.Refused{Code: refused.Code, Description: refused.Message}
		}
		return result, err
	}
	download := func(fileID string) (io.ReadCloser, error) {
		file, err := bot.GetFile(tgbotapi.FileConfig{FileID: fileID})
		if err != nil {
			return nil, err
		}
		// Its own address of a file is that of Telegram.
		answer, err := http.Get(address + "/file/bot" + key + "/" + file.FilePath)
		if err != nil {
			return nil, err
		}
		return answer.Body, nil
	}
	wire.Serve(wire.Version("github.com/go-telegram-bot-api/telegram-bot-api/v5"), call, download)
}

func receive(bot *tgbotapi.BotAPI, start wire.Start, take func(tgbotapi.Update)) {
	if start.Webhook == nil {
		config := tgbotapi.UpdateConfig{Timeout: 10, AllowedUpdates: start.AllowedUpdates}
		updates := bot.GetUpdatesChan(config)
		go func() {
			for update := range updates {
				take(update)
			}
		}()
		return
	}
	hook := start.Webhook
	http.HandleFunc(hook.Path, func(writer http.ResponseWriter, request *http.Request) {
		if update, err := bot.HandleUpdate(request); err == nil {
			take(*update)
		} else {
			http.Error(writer, err.Error(), http.StatusBadRequest)
		}
	})
	go http.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", hook.Port), nil)
	if _, err := setWebhook(bot, wire.Parameters{"url": hook.URL, "allowed_updates": start.AllowedUpdates}); err != nil {
		panic(err)
	}
}

// setWebhook leaves out the secret, which came to the bot API after the library.
func setWebhook(bot *tgbotapi.BotAPI, parameters wire.Parameters) (any, error) {
	address, err := url.Parse(parameters["url"].(string))
	if err != nil {
		return nil, err
	}
	config := tgbotapi.WebhookConfig{URL: address}
	text, _ := json.Marshal(parameters["allowed_updates"])
	json.Unmarshal(text, &config.AllowedUpdates)
	_, err = bot.Request(config)
	return err == nil, err
}

func ask(bot *tgbotapi.BotAPI, method string, parameters wire.Parameters) (any, error) {
	switch method {
	case "getMe":
		return bot.GetMe()
	case "getWebhookInfo":
		return bot.GetWebhookInfo()
	case "setWebhook":
		return setWebhook(bot, parameters)
	}
	if reason, ok := tooOld[method]; ok {
		return nil, wire.Absent(reason)
	}
	form, ok := configs[method]
	if !ok {
		return nil, wire.Absent("no form for " + method)
	}
	config := reflect.New(reflect.TypeOf(form)).Elem()
	for name, value := range parameters {
		if given, isObject := value.(map[string]any); isObject && name == "reply_parameters" {
			name, value = "reply_to_message_id", given["message_id"]
		}
		member, ok := members[name]
		if !ok {
			member = inGo(name)
		}
		field := config.FieldByName(member)
		if !field.IsValid() {
			return nil, wire.Absent(fmt.Sprintf("%s has no %s", method, name))
		}
		if files.MatchString(name) {
			field.Set(reflect.ValueOf(fileOf(value)))
		} else if err := wire.Fill(field, value, custom); err != nil {
			return nil, err
		}
	}
	answer, err := bot.Request(config.Interface().(tgbotapi.Chattable))
	if err != nil {
		return nil, err
	}
	if string(answer.Result) == "true" {
		return true, nil
	}
	kind := reflect.TypeOf(tgbotapi.Message{})
	if other, ok := results[method]; ok {
		kind = reflect.TypeOf(other).Elem()
	}
	result := reflect.New(kind)
	err = json.Unmarshal(answer.Result, result.Interface())
	return plain(result.Interface()), err
}

// plain gives members that came to the bot API later from those that the library has in their place.
func plain(value any) any {
	return wire.Plain(value, func(object map[string]any) any {
		if sender := object["forward_from"]; sender != nil {
			object["forward_origin"] = map[string]any{"type": "user", "sender_user": sender}
		}
		return object
	})
}

// inGo makes ChatID of chat_id.
func inGo(name string) string {
	words := strings.Split(name, "_")
	for index, word := range words {
		words[index] = strings.ToUpper(word[:1]) + word[1:]
		if word == "id" || word == "url" {
			words[index] = strings.ToUpper(word)
		}
	}
	return strings.Join(words, "")
}

func fileOf(value any) tgbotapi.RequestFileData {
	if file, name := wire.Upload(value); file != nil {
		return tgbotapi.FileReader{Name: name, Reader: file}
	}
	return tgbotapi.FileID(value.(string))
}

func custom(kind reflect.Type, value any) any {
	given, _ := value.(map[string]any)
	if items, isList := value.([]any); isList && kind == reflect.TypeOf([]string{}) {
		// An option of a poll was a text.
		texts := make([]string, len(items))
		for index, item := range items {
			if option, isObject := item.(map[string]any); isObject {
				item = option["text"]
			}
			texts[index], _ = item.(string)
		}
		return texts
	}
	if kind.Kind() != reflect.Interface || given == nil {
		return nil
	}
	fill := func(target any) any {
		if err := wire.Fill(reflect.ValueOf(target).Elem(), value, custom); err != nil {
			panic(err)
		}
		return reflect.ValueOf(target).Elem().Interface()
	}
	switch {
	case given["media"] != nil:
		media := tgbotapi.NewInputMediaPhoto(fileOf(given["media"]))
		media.Caption, _ = given["caption"].(string)
		return media
	case given["inline_keyboard"] != nil:
		return fill(&tgbotapi.InlineKeyboardMarkup{})
	case given["keyboard"] != nil:
		return fill(&tgbotapi.ReplyKeyboardMarkup{})
	case given["remove_keyboard"] != nil:
		return fill(&tgbotapi.ReplyKeyboardRemove{})
	case given["force_reply"] != nil:
		return fill(&tgbotapi.ForceReply{})
	case given["message_text"] != nil:
		return fill(&tgbotapi.InputTextMessageContent{})
	case given["title"] != nil:
		return fill(&tgbotapi.InlineQueryResultArticle{})
	}
	return nil
}
