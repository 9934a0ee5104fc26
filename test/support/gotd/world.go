package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/mt"
	"github.com/gotd/td/proto"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
	"github.com/gotd/td/tgtest"
	"github.com/gotd/td/tmap"
)

const (
	phone  = "15550123"
	code   = "12345"
	friend = 7002
)

// For so long a request waits for the one that it is to follow.
const longestWait = 500 * time.Millisecond

// What became of a message.
type outcome int

const (
	unknown outcome = iota
	failed
	done
)

// What happens to the next request of a kind instead of its answer.
type fault struct {
	// Its connection is cut, before it is carried out or after; its message has a wrong salt; an error is the answer.
	Kind string `json:"kind"`
	Code int    `json:"code"`
	Text string `json:"text"`
	Salt string `json:"salt"`
}

// What the server has decoded.
type request struct {
	Method  string `json:"method"`
	Centre  int    `json:"centre"`
	Key     string `json:"key"`
	Session string `json:"session"`
	ID      string `json:"id"`
	Salt    string `json:"salt"`
	// What was wrong with its message, by the number of the network, and whether it was carried out.
	Refused  int      `json:"refused,omitempty"`
	Done     bool     `json:"done,omitempty"`
	Text     string   `json:"text,omitempty"`
	Peer     int64    `json:"peer,omitempty"`
	Random   string   `json:"random,omitempty"`
	Entities []entity `json:"entities,omitempty"`
}

type seat struct {
	server  *tgtest.Server
	session tgtest.Session
}

type world struct {
	sync.Mutex
	clock    serverClock
	frames   *frames
	config   tg.Config
	names    *tmap.Map
	home     int
	faults   map[string]fault
	signedIn map[[8]byte]bool
	exported []byte
	// By the number of the session: whom updates are told, and what they have said.
	seats    map[int64]seat
	received map[int64]map[int64]outcome
	// All that the account has written or was written, in the order of its counter of updates.
	messages []*tg.Message
	numbers  map[int64]*tg.Message
}

func newWorld() *world {
	return &world{
		frames:   newFrames(),
		names:    tmap.New(tg.TypesMap(), mt.TypesMap(), proto.TypesMap()),
		home:     centres[0],
		faults:   map[string]fault{},
		signedIn: map[[8]byte]bool{},
		seats:    map[int64]seat{},
		received: map[int64]map[int64]outcome{},
		numbers:  map[int64]*tg.Message{},
	}
}

func (w *world) obey(ctx context.Context, given command) error {
	w.Lock()
	defer w.Unlock()
	switch given.Do {
	case "fault":
		w.faults[given.Method] = given.Fault
	case "shift":
		w.clock.shift(time.Duration(given.Seconds) * time.Second)
	case "home":
		w.home = given.Centre
	case "revoke":
		clear(w.signedIn)
	case "cut":
		for _, seat := range w.seats {
			w.cut(seat)
		}
	case "write":
		return w.write(ctx, given)
	default:
		return fmt.Errorf("nobody knows how to %s", given.Do)
	}
	return nil
}

// The session is forgotten, too: the server of gotd would go on answering it on the connection that is gone.
func (w *world) cut(seat seat) {
	delete(w.seats, seat.session.ID)
	delete(w.received, seat.session.ID)
	seat.server.ForceDisconnect(seat.session)
}

func (w *world) handler() tgtest.Handler {
	var unpacked tgtest.Handler
	unpacked = tgtest.UnpackInvoke(tgtest.HandlerFunc(func(server *tgtest.Server, req *tgtest.Request) error {
		id, err := req.Buf.PeekID()
		if err != nil {
			return err
		}
		if id != tg.InvokeAfterMsgRequestTypeID {
			w.Lock()
			defer w.Unlock()
			return w.hear(server, req, id)
		}
		// The server of gotd does not know it.
		after := tg.InvokeAfterMsgRequest{Query: rest{}}
		if err := after.Decode(req.Buf); err != nil {
			return err
		}
		if err := w.follows(req, after.MsgID); err != nil {
			return err
		}
		return unpacked.OnMessage(server, req)
	}))
	return unpacked
}

// The request inside another one, which is decoded later.
type rest struct{}

func (rest) Encode(*bin.Buffer) error { return nil }
func (rest) Decode(*bin.Buffer) error { return nil }

// Whether a request may be carried out that is to follow another one.
func (w *world) follows(req *tgtest.Request, before int64) error {
	w.Lock()
	defer w.Unlock()
	outcome := w.received[req.Session.ID][before]
	if outcome == done {
		return nil
	}
	tell(line{Heard: w.seen("invokeAfterMsg", req)})
	if outcome == failed {
		return tgerr.New(400, "MSG_WAIT_FAILED")
	}
	time.Sleep(longestWait)
	return tgerr.New(400, "MSG_WAIT_TIMEOUT")
}

func (w *world) hear(server *tgtest.Server, req *tgtest.Request, id uint32) error {
	if w.isService(server, req, id) {
		return nil
	}
	name, _, _ := strings.Cut(w.names.Get(id), "#")
	heard := w.seen(name, req)
	defer tell(line{Heard: heard})
	seat := seat{server, req.Session}
	w.seats[req.Session.ID] = seat
	happens := w.faults[name]
	objection, refused := w.objection(req, happens)
	heard.Refused = refused
	if refused == 0 || refused == wrongSalt {
		delete(w.faults, name)
	}
	if refused != 0 {
		return server.Send(req.RequestCtx, req.Session, proto.MessageServerResponse, objection)
	}
	if happens.Kind == "cut" {
		w.cut(seat)
		return nil
	}
	if w.received[req.Session.ID] == nil {
		w.received[req.Session.ID] = map[int64]outcome{}
	}
	answer, err := w.answer(req, id, happens)
	w.received[req.Session.ID][req.MsgID] = failed
	if err == nil {
		w.received[req.Session.ID][req.MsgID] = done
		heard.Done = true
	}
	if happens.Kind == "lost" {
		w.cut(seat)
		return nil
	}
	if err != nil {
		return err
	}
	return server.SendResult(req, answer)
}

func (w *world) seen(name string, req *tgtest.Request) *request {
	heard := &request{
		Method:  name,
		Centre:  req.DC,
		Key:     hex.EncodeToString(req.Session.AuthKey.ID[:]),
		Session: strconv.FormatInt(req.Session.ID, 10),
		ID:      strconv.FormatInt(req.MsgID, 10),
	}
	if newest := w.frames.newest(req.Session); newest != nil {
		heard.Salt = strconv.FormatInt(newest.Salt, 10)
	}
	var sent tg.MessagesSendMessageRequest
	if sent.Decode(&bin.Buffer{Buf: req.Buf.Copy()}) == nil {
		heard.note(&sent)
	}
	return heard
}

// What the server of gotd leaves to its handlers of the service messages.
func (w *world) isService(server *tgtest.Server, req *tgtest.Request, id uint32) bool {
	switch id {
	case mt.MsgsAckTypeID, mt.DestroySessionRequestTypeID, mt.MsgResendReqTypeID:
		return true
	case mt.MsgsStateReqTypeID:
		var asked mt.MsgsStateReq
		if asked.Decode(req.Buf) != nil {
			return true
		}
		info := make([]byte, len(asked.MsgIDs))
		for i, id := range asked.MsgIDs {
			// Nothing is known of it, or it has come.
			info[i] = 1
			if w.received[req.Session.ID][id] != unknown {
				info[i] = 4
			}
		}
		answer := &mt.MsgsStateInfo{ReqMsgID: req.MsgID, Info: info}
		_ = server.Send(req.RequestCtx, req.Session, proto.MessageServerResponse, answer)
		return true
	}
	return false
}

const (
	tooOld    = 16
	tooNew    = 17
	wrongSalt = 48
)

// The server of gotd takes messages of any time, and with any salt.
func (w *world) objection(req *tgtest.Request, happens fault) (bin.Encoder, int) {
	age := w.clock.Now().Sub(proto.MessageID(req.MsgID).Time())
	switch {
	case age > 300*time.Second:
		return &mt.BadMsgNotification{BadMsgID: req.MsgID, ErrorCode: tooOld}, tooOld
	case age < -30*time.Second:
		return &mt.BadMsgNotification{BadMsgID: req.MsgID, ErrorCode: tooNew}, tooNew
	case happens.Kind == "salt":
		salt, _ := strconv.ParseInt(happens.Salt, 10, 64)
		return &mt.BadServerSalt{BadMsgID: req.MsgID, ErrorCode: wrongSalt, NewServerSalt: salt}, wrongSalt
	}
	return nil, 0
}
