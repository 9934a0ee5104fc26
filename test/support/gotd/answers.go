package main

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/proto"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
	"github.com/gotd/td/tgtest"
)

const account = 7001

type entity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
	URL    string `json:"url,omitempty"`
}

func (e entity) made() tg.MessageEntityClass {
	switch e.Type {
	case "messageEntityBold":
		return &tg.MessageEntityBold{Offset: e.Offset, Length: e.Length}
	case "messageEntityTextUrl":
		return &tg.MessageEntityTextURL{Offset: e.Offset, Length: e.Length, URL: e.URL}
	}
	return &tg.MessageEntityUnknown{Offset: e.Offset, Length: e.Length}
}

var (
	errUnregistered = tgerr.New(401, "AUTH_KEY_UNREGISTERED")
	errMethod       = tgerr.New(400, "INPUT_METHOD_INVALID")
)

func self() *tg.User {
	return person(&tg.User{Self: true, ID: account, Phone: phone, FirstName: "Ada", Username: "ada_of_gotd"})
}

func other() *tg.User {
	return person(&tg.User{Contact: true, ID: friend, FirstName: "Grace", Username: "grace_of_gotd"})
}

func person(user *tg.User) *tg.User {
	user.AccessHash = user.ID * 1_000_003
	user.SetFlags()
	return user
}

func users() []tg.UserClass { return []tg.UserClass{self(), other()} }

type vector []bin.Encoder

func (v vector) Encode(b *bin.Buffer) error {
	b.PutVectorHeader(len(v))
	for _, one := range v {
		if err := one.Encode(b); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) answer(req *tgtest.Request, id uint32, happens fault) (bin.Encoder, error) {
	if happens.Kind == "error" {
		return nil, tgerr.New(happens.Code, happens.Text)
	}
	switch id {
	case tg.HelpGetConfigRequestTypeID:
		config := w.config
		config.ThisDC = req.DC
		config.Date = w.now()
		config.Expires = config.Date + 3600
		return &config, nil
	case tg.AuthSendCodeRequestTypeID:
		var asked tg.AuthSendCodeRequest
		if err := asked.Decode(req.Buf); err != nil {
			return nil, err
		}
		if asked.PhoneNumber != phone {
			return nil, tgerr.New(400, "PHONE_NUMBER_INVALID")
		}
		if req.DC != w.home {
			return nil, tgerr.New(303, fmt.Sprintf("PHONE_MIGRATE_%d", w.home))
		}
		return &tg.AuthSentCode{Type: &tg.AuthSentCodeTypeApp{Length: len(code)}, PhoneCodeHash: "hash"}, nil
	case tg.AuthSignInRequestTypeID:
		var asked tg.AuthSignInRequest
		if err := asked.Decode(req.Buf); err != nil {
			return nil, err
		}
		if asked.PhoneCode != code || asked.PhoneCodeHash != "hash" {
			return nil, tgerr.New(400, "PHONE_CODE_INVALID")
		}
		w.signedIn[req.Session.AuthKey.ID] = true
		return &tg.AuthAuthorization{User: self()}, nil
	case tg.AuthImportAuthorizationRequestTypeID:
		var asked tg.AuthImportAuthorizationRequest
		if err := asked.Decode(req.Buf); err != nil {
			return nil, err
		}
		if len(w.exported) == 0 || string(asked.Bytes) != string(w.exported) {
			return nil, tgerr.New(400, "AUTH_BYTES_INVALID")
		}
		w.signedIn[req.Session.AuthKey.ID] = true
		return &tg.AuthAuthorization{User: self()}, nil
	}
	if !w.signedIn[req.Session.AuthKey.ID] {
		return nil, errUnregistered
	}
	return w.answerAccount(req, id)
}

// What only a key is told that is signed in.
func (w *world) answerAccount(req *tgtest.Request, id uint32) (bin.Encoder, error) {
	switch id {
	case tg.AuthExportAuthorizationRequestTypeID:
		w.exported = make([]byte, 16)
		_, err := rand.Read(w.exported)
		return &tg.AuthExportedAuthorization{ID: account, Bytes: w.exported}, err
	case tg.AuthLogOutRequestTypeID:
		delete(w.signedIn, req.Session.AuthKey.ID)
		return &tg.AuthLoggedOut{}, nil
	}
	if req.DC != w.home {
		return nil, tgerr.New(303, fmt.Sprintf("USER_MIGRATE_%d", w.home))
	}
	switch id {
	case tg.UsersGetUsersRequestTypeID:
		return vector{self()}, nil
	case tg.ContactsGetContactsRequestTypeID:
		contacts := []tg.Contact{{UserID: friend}}
		return &tg.ContactsContacts{Contacts: contacts, Users: []tg.UserClass{other()}}, nil
	case tg.MessagesGetDialogsRequestTypeID:
		return &tg.MessagesDialogs{}, nil
	case tg.MessagesGetHistoryRequestTypeID:
		newest := make([]tg.MessageClass, 0, len(w.messages))
		for i := len(w.messages) - 1; i >= 0; i-- {
			newest = append(newest, w.messages[i])
		}
		return &tg.MessagesMessages{Messages: newest, Users: users()}, nil
	case tg.UpdatesGetStateRequestTypeID:
		return w.state(), nil
	case tg.UpdatesGetDifferenceRequestTypeID:
		var asked tg.UpdatesGetDifferenceRequest
		if err := asked.Decode(req.Buf); err != nil {
			return nil, err
		}
		return w.difference(asked.Pts), nil
	case tg.MessagesSendMessageRequestTypeID:
		var asked tg.MessagesSendMessageRequest
		if err := asked.Decode(req.Buf); err != nil {
			return nil, err
		}
		return w.take(&asked)
	}
	return nil, errMethod
}

func (w *world) now() int { return int(w.clock.Now().Unix()) }

func (w *world) state() *tg.UpdatesState {
	return &tg.UpdatesState{Pts: len(w.messages) + 1, Date: w.now(), Seq: 1}
}

func (w *world) difference(pts int) tg.UpdatesDifferenceClass {
	if pts > len(w.messages) {
		return &tg.UpdatesDifferenceEmpty{Date: w.now(), Seq: 1}
	}
	found := &tg.UpdatesDifference{Users: users(), State: *w.state()}
	for _, message := range w.messages[pts-1:] {
		found.NewMessages = append(found.NewMessages, message)
	}
	return found
}

func (w *world) add(message *tg.Message) {
	message.ID = len(w.messages) + 1
	message.Date = w.now()
	message.PeerID = &tg.PeerUser{UserID: friend}
	message.SetFlags()
	w.messages = append(w.messages, message)
}

func (r *request) note(sent *tg.MessagesSendMessageRequest) {
	r.Text = sent.Message
	r.Random = fmt.Sprint(sent.RandomID)
	for _, one := range sent.Entities {
		told := entity{Type: one.TypeName(), Offset: one.GetOffset(), Length: one.GetLength()}
		if link, isLink := one.(*tg.MessageEntityTextURL); isLink {
			told.URL = link.URL
		}
		r.Entities = append(r.Entities, told)
	}
	if peer, isUser := sent.Peer.(*tg.InputPeerUser); isUser {
		r.Peer = peer.UserID
	}
}

func (w *world) take(asked *tg.MessagesSendMessageRequest) (bin.Encoder, error) {
	peer, isUser := asked.Peer.(*tg.InputPeerUser)
	if !isUser || peer.UserID != friend || peer.AccessHash != other().AccessHash {
		return nil, tgerr.New(400, "PEER_ID_INVALID")
	}
	if w.numbers[asked.RandomID] != nil {
		return nil, tgerr.New(500, "RANDOM_ID_DUPLICATE")
	}
	message := &tg.Message{Out: true, Message: asked.Message, Entities: asked.Entities}
	w.add(message)
	w.numbers[asked.RandomID] = message
	sent := &tg.UpdateShortSentMessage{
		Out: true, ID: message.ID, Pts: len(w.messages) + 1, PtsCount: 1, Date: message.Date, Entities: asked.Entities,
	}
	sent.SetFlags()
	return sent, nil
}

// The friend writes, and the account is told in one of the forms of the network.
func (w *world) write(ctx context.Context, given command) error {
	message := &tg.Message{Message: given.Text}
	for _, one := range given.Entities {
		message.Entities = append(message.Entities, one.made())
	}
	w.add(message)
	pts := len(w.messages) + 1
	update := &tg.UpdateNewMessage{Message: message, Pts: pts, PtsCount: 1}
	var told bin.Encoder
	switch given.Form {
	case "whole":
		told = &tg.Updates{Updates: []tg.UpdateClass{update}, Users: users(), Date: message.Date}
	case "short":
		told = &tg.UpdateShort{Update: update, Date: message.Date}
	case "shortest":
		short := &tg.UpdateShortMessage{
			ID: message.ID, UserID: friend, Message: given.Text, Entities: message.Entities, Pts: pts, PtsCount: 1, Date: message.Date,
		}
		short.SetFlags()
		told = short
	case "too long":
		told = &tg.UpdatesTooLong{}
	default:
		return nil
	}
	for _, seat := range w.seats {
		if w.signedIn[seat.session.AuthKey.ID] {
			_ = seat.server.Send(ctx, seat.session, proto.MessageFromServer, told)
		}
	}
	return nil
}
