// telebot v4 behind the protocol of test/libraries/bot-process.ts.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"chapar.test/libraries/wire"
	tele "gopkg.in/telebot.v4"
)

func main() {
	start := wire.Started()
	address, key := start.Address, start.Key
	poller := tele.NewMiddlewarePoller(pollerOf(start), func(update *tele.Update) bool {
		wire.Tell(plain(update))
		return true
	})

	// snippet
	bot, err := tele.NewBot(tele.Settings{URL: address, Token: key, Poller: poller})
	if err != nil {
		panic(err)
	}
	bot.Handle("/echo", func(c tele.Context) error {
		return c.Send("echo " + c.Message().Payload)
	})
	go bot.Start()
	// end

	call := func(method string, parameters wire.Parameters) (any, error) {
		function, ok := methods[method]
		if !ok {
			return nil, wire.Absent("not tried, or telebot has no " + method)
		}
		result, err := function(bot, given{parameters})
		var refused *tele.Error
		if errors.As(err, &refused) {
			return nil, wire.Refused{Code: refused.Code, Description: refused.Description}
		}
		return plain(result), err
	}
	download := func(fileID string) (io.ReadCloser, error) {
		file, err := bot.FileByID(fileID)
		if err != nil {
			return nil, err
		}
		return bot.File(&file)
	}
	wire.Serve(wire.Version("gopkg.in/telebot.v4"), call, download)
}

func pollerOf(start wire.Start) tele.Poller {
	hook := start.Webhook
	if hook == nil {
		return &tele.LongPoller{Timeout: 20 * time.Second, AllowedUpdates: start.AllowedUpdates}
	}
	return &tele.Webhook{
		Listen:         fmt.Sprintf("127.0.0.1:%d", hook.Port),
		SecretToken:    hook.Secret,
		AllowedUpdates: start.AllowedUpdates,
		Endpoint:       &tele.WebhookEndpoint{PublicURL: hook.URL},
	}
}

// plain is the JSON of telebot's types, where a photo is one size instead of a list of them.
func plain(value any) any {
	return wire.Plain(value, func(object map[string]any) any {
		if size, isSize := object["photo"].(map[string]any); isSize {
			object["photo"] = []any{size}
		}
		return object
	})
}

type given struct{ parameters wire.Parameters }

func (g given) text(name string) string {
	text, _ := g.parameters[name].(string)
	return text
}

func (g given) number(name string) int64 {
	number, _ := g.parameters[name].(json.Number)
	whole, _ := number.Int64()
	return whole
}

func (g given) decimal(name string) float32 {
	number, _ := g.parameters[name].(json.Number)
	decimal, _ := number.Float64()
	return float32(decimal)
}

// read makes a value of telebot's types from a parameter.
func read[T any](g given, name string) T {
	var into T
	text, _ := json.Marshal(g.parameters[name])
	if err := json.Unmarshal(text, &into); err != nil {
		panic(err)
	}
	return into
}

func (g given) chat() *tele.Chat { return &tele.Chat{ID: g.number("chat_id")} }
func (g given) user() *tele.User { return &tele.User{ID: g.number("user_id")} }

func (g given) message() tele.StoredMessage {
	return tele.StoredMessage{MessageID: fmt.Sprint(g.number("message_id")), ChatID: g.number("chat_id")}
}

func (g given) source() tele.StoredMessage {
	return tele.StoredMessage{MessageID: fmt.Sprint(g.number("message_id")), ChatID: g.number("from_chat_id")}
}

func (g given) file(name string) tele.File {
	if file, _ := wire.Upload(g.parameters[name]); file != nil {
		defer file.Close()
		return tele.FromDisk(file.Name())
	}
	return tele.File{FileID: g.text(name)}
}

func (g given) options() *tele.SendOptions {
	if g.parameters["receiver_user_id"] != nil {
		panic(wire.Absent("telebot writes to nobody alone in a group"))
	}
	options := &tele.SendOptions{
		ParseMode: g.text("parse_mode"),
		Entities:  read[tele.Entities](g, "entities"),
		ThreadID:  int(g.number("message_thread_id")),
	}
	if g.parameters["reply_markup"] != nil {
		if strings.Contains(fmt.Sprint(g.parameters["reply_markup"]), "copy_text") {
			panic(wire.Absent("a button of telebot has no copy_text"))
		}
		markup := read[tele.ReplyMarkup](g, "reply_markup")
		options.ReplyMarkup = &markup
	}
	if reply, ok := g.parameters["reply_parameters"].(map[string]any); ok {
		options.ReplyTo = &tele.Message{ID: int(given{reply}.number("message_id"))}
	}
	return options
}

type method = func(bot *tele.Bot, g given) (any, error)

// done answers true where telebot answers only whether there was an error.
func done(function func(bot *tele.Bot, g given) error) method {
	return func(bot *tele.Bot, g given) (any, error) { return true, function(bot, g) }
}

func sends(what func(g given) any) method {
	return func(bot *tele.Bot, g given) (any, error) { return bot.Send(g.chat(), what(g), g.options()) }
}

var methods = map[string]method{
	"getMe":       func(bot *tele.Bot, _ given) (any, error) { return bot.Me, nil },
	"sendMessage": sends(func(g given) any { return g.text("text") }),
	"editMessageText": func(bot *tele.Bot, g given) (any, error) {
		return bot.Edit(g.message(), g.text("text"), g.options())
	},
	"editMessageReplyMarkup": func(bot *tele.Bot, g given) (any, error) {
		return bot.EditReplyMarkup(g.message(), g.options().ReplyMarkup)
	},
	"editMessageCaption": func(bot *tele.Bot, g given) (any, error) {
		return bot.EditCaption(g.message(), g.text("caption"))
	},
	"editMessageMedia": func(bot *tele.Bot, g given) (any, error) {
		media := given{g.parameters["media"].(map[string]any)}
		photo := &tele.Photo{File: media.file("media"), Caption: media.text("caption")}
		return bot.EditMedia(g.message(), photo)
	},
	"deleteMessage": done(func(bot *tele.Bot, g given) error { return bot.Delete(g.message()) }),
	"answerCallbackQuery": done(func(bot *tele.Bot, g given) error {
		alert, _ := g.parameters["show_alert"].(bool)
		answer := &tele.CallbackResponse{Text: g.text("text"), ShowAlert: alert}
		return bot.Respond(&tele.Callback{ID: g.text("callback_query_id")}, answer)
	}),
	"sendPoll": sends(func(g given) any {
		poll := &tele.Poll{Type: tele.PollRegular, Question: g.text("question")}
		for _, option := range read[[]tele.PollOption](g, "options") {
			poll.AddOptions(option.Text)
		}
		return poll
	}),
	"stopPoll": func(bot *tele.Bot, g given) (any, error) { return bot.StopPoll(g.message()) },
	"sendDice": sends(func(g given) any { return &tele.Dice{Type: tele.DiceType(g.text("emoji"))} }),
	"setMessageReaction": done(func(bot *tele.Bot, g given) error {
		reactions := tele.Reactions{Reactions: read[[]tele.Reaction](g, "reaction")}
		return bot.React(g.chat(), g.message(), reactions)
	}),
	"sendChatAction": done(func(bot *tele.Bot, g given) error {
		return bot.Notify(g.chat(), tele.ChatAction(g.text("action")))
	}),
	"sendMessageDraft": done(func(bot *tele.Bot, g given) error {
		return bot.SendDraft(g.chat(), int(g.number("draft_id")), g.text("text"))
	}),
	"getWebhookInfo": func(bot *tele.Bot, _ given) (any, error) { return bot.Webhook() },
	"deleteWebhook":  done(func(bot *tele.Bot, _ given) error { return bot.RemoveWebhook() }),
	"setWebhook": done(func(bot *tele.Bot, g given) error {
		return bot.SetWebhook(&tele.Webhook{
			Endpoint:       &tele.WebhookEndpoint{PublicURL: g.text("url")},
			SecretToken:    g.text("secret_token"),
			MaxConnections: int(g.number("max_connections")),
			AllowedUpdates: read[[]string](g, "allowed_updates"),
		})
	}),
	"sendPhoto": sends(func(g given) any {
		return &tele.Photo{File: g.file("photo"), Caption: g.text("caption")}
	}),
	"sendDocument": sends(func(g given) any {
		return &tele.Document{File: g.file("document"), FileName: "notes.txt"}
	}),
	"sendAudio":     sends(func(g given) any { return &tele.Audio{File: g.file("audio")} }),
	"sendVoice":     sends(func(g given) any { return &tele.Voice{File: g.file("voice")} }),
	"sendVideo":     sends(func(g given) any { return &tele.Video{File: g.file("video")} }),
	"sendAnimation": sends(func(g given) any { return &tele.Animation{File: g.file("animation"), FileName: "film.mp4"} }),
	"sendSticker":   sends(func(g given) any { return &tele.Sticker{File: g.file("sticker")} }),
	"sendMediaGroup": func(bot *tele.Bot, g given) (any, error) {
		var album tele.Album
		for _, item := range g.parameters["media"].([]any) {
			media := given{item.(map[string]any)}
			album = append(album, &tele.Photo{File: media.file("media"), Caption: media.text("caption")})
		}
		return bot.SendAlbum(g.chat(), album)
	},
	"sendLocation": sends(func(g given) any {
		period := int(g.number("live_period"))
		return &tele.Location{Lat: g.decimal("latitude"), Lng: g.decimal("longitude"), LivePeriod: period}
	}),
	"editMessageLiveLocation": func(bot *tele.Bot, g given) (any, error) {
		return bot.Edit(g.message(), tele.Location{Lat: g.decimal("latitude"), Lng: g.decimal("longitude")})
	},
	"stopMessageLiveLocation": func(bot *tele.Bot, g given) (any, error) {
		return bot.StopLiveLocation(g.message())
	},
	"sendVenue": sends(func(g given) any {
		place := tele.Location{Lat: g.decimal("latitude"), Lng: g.decimal("longitude")}
		return &tele.Venue{Location: place, Title: g.text("title"), Address: g.text("address")}
	}),
	"forwardMessage": func(bot *tele.Bot, g given) (any, error) { return bot.Forward(g.chat(), g.source()) },
	"copyMessage":    func(bot *tele.Bot, g given) (any, error) { return bot.Copy(g.chat(), g.source()) },
	"pinChatMessage": done(func(bot *tele.Bot, g given) error { return bot.Pin(g.message()) }),
	"unpinChatMessage": done(func(bot *tele.Bot, g given) error {
		return bot.Unpin(g.chat(), int(g.number("message_id")))
	}),
	"getChat": func(bot *tele.Bot, g given) (any, error) { return bot.ChatByID(g.number("chat_id")) },
	"getChatMember": func(bot *tele.Bot, g given) (any, error) {
		return bot.ChatMemberOf(g.chat(), g.user())
	},
	"getChatMemberCount":    func(bot *tele.Bot, g given) (any, error) { return bot.Len(g.chat()) },
	"getChatAdministrators": func(bot *tele.Bot, g given) (any, error) { return bot.AdminsOf(g.chat()) },
	"promoteChatMember": done(func(bot *tele.Bot, g given) error {
		pins, _ := g.parameters["can_pin_messages"].(bool)
		rights := tele.Rights{CanPinMessages: pins}
		return bot.Promote(g.chat(), &tele.ChatMember{User: g.user(), Rights: rights})
	}),
	"restrictChatMember": done(func(bot *tele.Bot, g given) error {
		rights := read[tele.Rights](g, "permissions")
		return bot.Restrict(g.chat(), &tele.ChatMember{User: g.user(), Rights: rights})
	}),
	"banChatMember": done(func(bot *tele.Bot, g given) error {
		return bot.Ban(g.chat(), &tele.ChatMember{User: g.user()})
	}),
	"unbanChatMember": done(func(bot *tele.Bot, g given) error { return bot.Unban(g.chat(), g.user()) }),
	"createChatInviteLink": func(bot *tele.Bot, g given) (any, error) {
		asks, _ := g.parameters["creates_join_request"].(bool)
		return bot.CreateInviteLink(g.chat(), &tele.ChatInviteLink{Name: g.text("name"), JoinRequest: asks})
	},
	"revokeChatInviteLink": func(bot *tele.Bot, g given) (any, error) {
		return bot.RevokeInviteLink(g.chat(), g.text("invite_link"))
	},
	"approveChatJoinRequest": done(func(bot *tele.Bot, g given) error {
		return bot.ApproveJoinRequest(g.chat(), g.user())
	}),
	"createForumTopic": func(bot *tele.Bot, g given) (any, error) {
		return bot.CreateTopic(g.chat(), &tele.Topic{Name: g.text("name")})
	},
	"editForumTopic": done(func(bot *tele.Bot, g given) error {
		topic := &tele.Topic{Name: g.text("name"), ThreadID: int(g.number("message_thread_id"))}
		return bot.EditTopic(g.chat(), topic)
	}),
	"closeForumTopic": done(func(bot *tele.Bot, g given) error {
		return bot.CloseTopic(g.chat(), &tele.Topic{ThreadID: int(g.number("message_thread_id"))})
	}),
	"deleteForumTopic": done(func(bot *tele.Bot, g given) error {
		return bot.DeleteTopic(g.chat(), &tele.Topic{ThreadID: int(g.number("message_thread_id"))})
	}),
	"setChatTitle": done(func(bot *tele.Bot, g given) error {
		return bot.SetGroupTitle(g.chat(), g.text("title"))
	}),
	"setChatDescription": done(func(bot *tele.Bot, g given) error {
		return bot.SetGroupDescription(g.chat(), g.text("description"))
	}),
	"setChatPermissions": done(func(bot *tele.Bot, g given) error {
		return bot.SetGroupPermissions(g.chat(), read[tele.Rights](g, "permissions"))
	}),
	"setMyCommands": done(func(bot *tele.Bot, g given) error {
		var commands []tele.Command
		for _, each := range read[[]map[string]string](g, "commands") {
			command := tele.Command{Text: each["command"], Description: each["description"]}
			commands = append(commands, command)
		}
		return bot.SetCommands(commands)
	}),
	"answerInlineQuery": done(func(bot *tele.Bot, g given) error {
		var results tele.Results
		for _, item := range g.parameters["results"].([]any) {
			result := given{item.(map[string]any)}
			words := given{result.parameters["input_message_content"].(map[string]any)}
			article := &tele.ArticleResult{Title: result.text("title")}
			article.SetResultID(result.text("id"))
			article.SetContent(&tele.InputTextMessageContent{Text: words.text("message_text")})
			results = append(results, article)
		}
		return bot.Answer(&tele.Query{ID: g.text("inline_query_id")}, &tele.QueryResponse{Results: results})
	}),
	"getMyCommands":    func(bot *tele.Bot, _ given) (any, error) { return bot.Commands() },
	"deleteMyCommands": done(func(bot *tele.Bot, _ given) error { return bot.DeleteCommands() }),
	"getStickerSet": func(bot *tele.Bot, g given) (any, error) {
		return bot.StickerSet(g.text("name"))
	},
}
