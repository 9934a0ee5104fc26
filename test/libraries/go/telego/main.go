// telego behind the protocol of test/libraries/bot-process.ts.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"

	"chapar.test/libraries/wire"
	"github.com/mymmrac/telego"
	"github.com/mymmrac/telego/telegoapi"
	"github.com/mymmrac/telego/telegohandler"
	"github.com/mymmrac/telego/telegoutil"
)

func main() {
	start := wire.Started()
	address, key := start.Address, start.Key
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	// snippet
	// telego takes only secrets of 35 characters. It is given a part of the key, and its caller puts the key in place.
	token := key[:strings.Index(key, ":")+36]
	caller := withKey{telegoapi.DefaultFastHTTPCaller, token, key}
	bot, err := telego.NewBot(token, telego.WithAPIServer(address), telego.WithAPICaller(caller))
	if err != nil {
		panic(err)
	}
	echo := func(ctx *telegohandler.Context, message telego.Message) error {
		words := strings.TrimPrefix(message.Text, "/echo ")
		_, err := ctx.Bot().SendMessage(ctx, telegoutil.Message(message.Chat.ChatID(), "echo "+words))
		return err
	}
	// end

	updates := receive(ctx, bot, start)
	handler, err := telegohandler.NewBotHandler(bot, updates)
	if err != nil {
		panic(err)
	}
	handler.Use(func(ctx *telegohandler.Context, update telego.Update) error {
		wire.Tell(update)
		return ctx.Next(update)
	})
	handler.HandleMessage(echo, telegohandler.CommandEqual("echo"))
	go handler.Start()

	call := func(method string, parameters wire.Parameters) (any, error) {
		result, err := wire.Invoke(bot, ctx, method, parameters, custom)
		var refused *telegoapi.Error
		if errors.As(err, &refused) {
			return nil, wire.Refused{Code: refused.ErrorCode, Description: refused.Description}
		}
		return result, err
	}
	download := func(fileID string) (io.ReadCloser, error) {
		file, err := bot.GetFile(ctx, &telego.GetFileParams{FileID: fileID})
		if err != nil {
			return nil, err
		}
		answer, err := http.Get(strings.Replace(bot.FileDownloadURL(file.FilePath), token, key, 1))
		if err != nil {
			return nil, err
		}
		return answer.Body, nil
	}
	wire.Serve(wire.Version("github.com/mymmrac/telego"), call, download)
}

type withKey struct {
	telegoapi.Caller
	token, key string
}

func (c withKey) Call(ctx context.Context, url string, data *telegoapi.RequestData) (*telegoapi.Response, error) {
	return c.Caller.Call(ctx, strings.Replace(url, c.token, c.key, 1), data)
}

func receive(ctx context.Context, bot *telego.Bot, start wire.Start) <-chan telego.Update {
	allowed := start.AllowedUpdates
	if start.Webhook == nil {
		params := &telego.GetUpdatesParams{Timeout: 20, AllowedUpdates: allowed}
		updates, err := bot.UpdatesViaLongPolling(ctx, params)
		if err != nil {
			panic(err)
		}
		return updates
	}
	hook := start.Webhook
	mux := http.NewServeMux()
	params := &telego.SetWebhookParams{URL: hook.URL, SecretToken: hook.Secret, AllowedUpdates: allowed}
	updates, err := bot.UpdatesViaWebhook(
		ctx,
		telego.WebhookHTTPServeMux(mux, "POST "+hook.Path, hook.Secret),
	)
	if err != nil {
		panic(err)
	}
	go http.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", hook.Port), mux)
	if err := bot.SetWebhook(ctx, params); err != nil {
		panic(err)
	}
	return updates
}

// named gives a file the name that the upload has.
type named struct {
	*os.File
	name string
}

func (file named) Name() string { return file.name }

func custom(kind reflect.Type, value any) any {
	members, _ := value.(map[string]any)
	fill := func(target any) any {
		if err := wire.Fill(reflect.ValueOf(target).Elem(), value, custom); err != nil {
			panic(err)
		}
		return target
	}
	switch kind.Name() {
	case "InputFile":
		if file, name := wire.Upload(value); file != nil {
			return telego.InputFile{File: named{file, name}}
		}
		return telego.InputFile{FileID: value.(string)}
	case "ReplyMarkup":
		switch {
		case members["inline_keyboard"] != nil:
			return fill(&telego.InlineKeyboardMarkup{})
		case members["keyboard"] != nil:
			return fill(&telego.ReplyKeyboardMarkup{})
		case members["remove_keyboard"] != nil:
			return fill(&telego.ReplyKeyboardRemove{})
		default:
			return fill(&telego.ForceReply{})
		}
	case "InputMedia", "InputMediaGroup":
		return fill(&telego.InputMediaPhoto{})
	case "InputPaidMedia":
		panic(wire.Absent("telego does not send the files of paid media"))
	case "InlineQueryResult":
		return fill(&telego.InlineQueryResultArticle{})
	case "InputMessageContent":
		return fill(&telego.InputTextMessageContent{})
	case "ReactionType":
		return fill(&telego.ReactionTypeEmoji{})
	}
	return nil
}
