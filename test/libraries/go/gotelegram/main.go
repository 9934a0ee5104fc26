// github.com/go-telegram/bot behind the protocol of test/libraries/bot-process.ts.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"chapar.test/libraries/wire"
	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

func main() {
	start := wire.Started()
	address, key := start.Address, start.Key
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	tell := func(_ context.Context, _ *bot.Bot, update *models.Update) { wire.Tell(update) }
	more := []bot.Option{
		bot.WithDefaultHandler(tell),
		bot.WithNotAsyncHandlers(),
		bot.WithAllowedUpdates(start.AllowedUpdates),
	}
	if start.Webhook != nil {
		more = append(more, bot.WithWebhookSecretToken(start.Webhook.Secret))
	}

	// snippet
	options := append(more, bot.WithServerURL(address))
	b, err := bot.New(key, options...)
	if err != nil {
		panic(err)
	}
	echo := func(ctx context.Context, b *bot.Bot, update *models.Update) {
		words := strings.TrimPrefix(update.Message.Text, "/echo ")
		chat := update.Message.Chat.ID
		b.SendMessage(ctx, &bot.SendMessageParams{ChatID: chat, Text: "echo " + words})
	}
	b.RegisterHandler(bot.HandlerTypeMessageText, "/echo", bot.MatchTypePrefix, echo)
	// end

	receive(ctx, b, start)
	call := func(method string, parameters wire.Parameters) (any, error) {
		result, err := wire.Invoke(b, ctx, method, parameters, custom)
		if err != nil && strings.Contains(err.Error(), ", ") {
			_, description, _ := strings.Cut(err.Error(), ", ")
			return nil, wire.Refused{Description: description}
		}
		return plain(result), err
	}
	download := func(fileID string) (io.ReadCloser, error) {
		file, err := b.GetFile(ctx, &bot.GetFileParams{FileID: fileID})
		if err != nil {
			return nil, err
		}
		answer, err := http.Get(b.FileDownloadLink(file))
		if err != nil {
			return nil, err
		}
		return answer.Body, nil
	}
	wire.Serve(wire.Version("github.com/go-telegram/bot"), call, download)
}

// plain is the JSON of the library's types, which writes paid media as a type beside what may be there.
func plain(value any) any {
	return wire.Plain(value, func(object map[string]any) any {
		kind, isChoice := object["Type"]
		for _, inner := range object {
			if inner, isThere := inner.(map[string]any); isChoice && isThere {
				inner["type"] = kind
				return inner
			}
		}
		return object
	})
}

func receive(ctx context.Context, b *bot.Bot, start wire.Start) {
	if start.Webhook == nil {
		go b.Start(ctx)
		return
	}
	hook := start.Webhook
	mux := http.NewServeMux()
	mux.Handle(hook.Path, b.WebhookHandler())
	go http.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", hook.Port), mux)
	go b.StartWebhook(ctx)
	params := &bot.SetWebhookParams{
		URL:            hook.URL,
		SecretToken:    hook.Secret,
		AllowedUpdates: start.AllowedUpdates,
	}
	if _, err := b.SetWebhook(ctx, params); err != nil {
		panic(err)
	}
}

func custom(kind reflect.Type, value any) any {
	members, _ := value.(map[string]any)
	fill := func(target any) any {
		if err := wire.Fill(reflect.ValueOf(target).Elem(), value, custom); err != nil {
			panic(err)
		}
		return target
	}
	// The library has the id of a draft as text.
	if number, isNumber := value.(json.Number); isNumber && kind.Kind() == reflect.String {
		return number.String()
	}
	switch kind.Name() {
	case "InputFile":
		if file, name := wire.Upload(value); file != nil {
			return &models.InputFileUpload{Filename: name, Data: file}
		}
		return &models.InputFileString{Data: value.(string)}
	case "ReplyMarkup":
		switch {
		case members["inline_keyboard"] != nil:
			return fill(&models.InlineKeyboardMarkup{})
		case members["keyboard"] != nil:
			return fill(&models.ReplyKeyboardMarkup{})
		case members["remove_keyboard"] != nil:
			return fill(&models.ReplyKeyboardRemove{})
		default:
			return fill(&models.ForceReply{})
		}
	case "InputMedia":
		media := &models.InputMediaPhoto{}
		if file, name := wire.Upload(members["media"]); file != nil {
			media.Media, media.MediaAttachment = "attach://"+name, file
		}
		media.Caption, _ = members["caption"].(string)
		return media
	case "InputPaidMedia":
		media := &models.InputPaidMediaPhoto{}
		if file, name := wire.Upload(members["media"]); file != nil {
			media.Media, media.MediaAttachment = "attach://"+name, file
		}
		return media
	case "InlineQueryResult":
		// The library writes the type by itself.
		delete(members, "type")
		return fill(&models.InlineQueryResultArticle{})
	case "InputMessageContent":
		return fill(&models.InputTextMessageContent{})
	case "ReactionType":
		emoji, _ := members["emoji"].(string)
		return models.ReactionType{
			Type:              models.ReactionTypeTypeEmoji,
			ReactionTypeEmoji: &models.ReactionTypeEmoji{Type: models.ReactionTypeTypeEmoji, Emoji: emoji},
		}
	}
	return nil
}
