package main

import (
	"bytes"
	"io"
	"net"
	"sync"
	"time"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/clock"
	"github.com/gotd/td/crypto"
	"github.com/gotd/td/proto"
	"github.com/gotd/td/tgtest"
	"github.com/gotd/td/transport"
)

// How many frames of a key are kept: its connections speak at the same time.
const kept = 16

// The server of gotd tells its handlers neither the salt nor the sequence number of a message.
type frames struct {
	sync.Mutex
	of     map[[8]byte][][]byte
	cipher crypto.Cipher
}

func newFrames() *frames {
	return &frames{of: map[[8]byte][][]byte{}, cipher: crypto.NewServerCipher(crypto.DefaultRand())}
}

func (f *frames) note(frame []byte) {
	if len(frame) < 8 {
		return
	}
	f.Lock()
	defer f.Unlock()
	key := [8]byte(frame[:8])
	f.of[key] = append(f.of[key], frame)
	if over := len(f.of[key]) - kept; over > 0 {
		f.of[key] = f.of[key][over:]
	}
}

// The newest message of a session, which its handler deals with.
func (f *frames) newest(session tgtest.Session) *crypto.EncryptedMessageData {
	f.Lock()
	defer f.Unlock()
	seen := f.of[session.AuthKey.ID]
	for i := len(seen) - 1; i >= 0; i-- {
		sealed := &crypto.EncryptedMessage{}
		if sealed.Decode(&bin.Buffer{Buf: seen[i]}) != nil {
			continue
		}
		found, err := f.cipher.Decrypt(session.AuthKey, sealed)
		if err == nil && found.SessionID == session.ID {
			return found
		}
	}
	return nil
}

type ear struct {
	transport.Codec
	frames *frames
}

func (e ear) Read(from io.Reader, into *bin.Buffer) error {
	if err := e.Codec.Read(from, into); err != nil {
		return err
	}
	e.frames.note(into.Copy())
	return nil
}

// The server of gotd waits for the first bytes of a connection before it takes the next one.
type door struct {
	net.Listener
	taken chan net.Conn
}

type begun struct {
	net.Conn
	from io.Reader
}

func (b begun) Read(into []byte) (int, error) { return b.from.Read(into) }

func opened(socket net.Listener) door {
	made := door{socket, make(chan net.Conn)}
	go func() {
		defer close(made.taken)
		for {
			conn, err := socket.Accept()
			if err != nil {
				return
			}
			go func() {
				first := make([]byte, 1)
				if _, err := io.ReadFull(conn, first); err != nil {
					_ = conn.Close()
					return
				}
				made.taken <- begun{conn, io.MultiReader(bytes.NewReader(first), conn)}
			}()
		}
	}()
	return made
}

func (d door) Accept() (net.Conn, error) {
	conn, isOpen := <-d.taken
	if !isOpen {
		return nil, net.ErrClosed
	}
	return conn, nil
}

// The clock of the server, and its message numbers, which gotd's own generator does not let go back.
type serverClock struct {
	sync.Mutex
	ahead time.Duration
	ids   *proto.MessageIDGen
}

func (c *serverClock) shift(ahead time.Duration) {
	c.Lock()
	defer c.Unlock()
	c.ahead = ahead
	c.ids = nil
}

func (c *serverClock) Now() time.Time {
	c.Lock()
	defer c.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *serverClock) Timer(d time.Duration) clock.Timer   { return clock.System.Timer(d) }
func (c *serverClock) Ticker(d time.Duration) clock.Ticker { return clock.System.Ticker(d) }

func (c *serverClock) New(kind proto.MessageType) int64 {
	c.Lock()
	if c.ids == nil {
		c.ids = proto.NewMessageIDGen(c.Now)
	}
	ids := c.ids
	c.Unlock()
	return ids.New(kind)
}
