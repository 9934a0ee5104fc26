// A client for the tests of XMPP, made with mellium.im/xmpp: it does what lines of JSON on its standard input say, and
// writes what it hears as lines of JSON.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/xml"
	"flag"
	"io"
	"log"
	"net"
	"os"
	"sync"
	"time"

	"mellium.im/sasl"
	"mellium.im/xmlstream"
	"mellium.im/xmpp"
	"mellium.im/xmpp/jid"
	"mellium.im/xmpp/muc"
	"mellium.im/xmpp/mux"
	"mellium.im/xmpp/stanza"
)

const patience = 30 * time.Second

type reference struct {
	ID string `xml:"id,attr" json:"id"`
	To string `xml:"to,attr,omitempty" json:"to,omitempty"`
}

type message struct {
	stanza.Message
	Body     string     `xml:"body,omitempty"`
	Replaces *reference `xml:"urn:xmpp:message-correct:0 replace"`
	ReplyTo  *reference `xml:"urn:xmpp:reply:0 reply"`
}

type command struct {
	Join     string     `json:"join"`
	To       string     `json:"to"`
	Type     string     `json:"type"`
	ID       string     `json:"id"`
	Body     string     `json:"body"`
	Replaces *reference `json:"replaces"`
	ReplyTo  *reference `json:"replyTo"`
}

// What is heard has the same fields as what is said.
type heard struct {
	Online   bool       `json:"online,omitempty"`
	Joined   string     `json:"joined,omitempty"`
	From     string     `json:"from,omitempty"`
	Type     string     `json:"type,omitempty"`
	ID       string     `json:"id,omitempty"`
	Body     string     `json:"body,omitempty"`
	Replaces *reference `json:"replaces,omitempty"`
	ReplyTo  *reference `json:"replyTo,omitempty"`
}

var output sync.Mutex

func tell(fact heard) {
	output.Lock()
	defer output.Unlock()
	if err := json.NewEncoder(os.Stdout).Encode(fact); err != nil {
		log.Fatal(err)
	}
}

func main() {
	server := flag.String("server", "", "host and port")
	address := flag.String("jid", "", "who logs in")
	flag.Parse()
	if err := run(*server, *address, os.Getenv("PASSWORD")); err != nil {
		log.Fatal(err)
	}
}

func run(server, address, password string) error {
	session, err := login(server, jid.MustParse(address), password)
	if err != nil {
		return err
	}
	rooms := &muc.Client{}
	ended := make(chan error, 1)
	go func() { ended <- session.Serve(handler(rooms)) }()
	if err := session.Send(context.Background(), stanza.Presence{}.Wrap(nil)); err != nil {
		return err
	}
	tell(heard{Online: true})
	go func() { ended <- obey(session, rooms) }()
	return <-ended
}

// The connection does not leave the machine, so the library is told that it is a safe one.
func login(server string, address jid.JID, password string) (*xmpp.Session, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	connection, err := net.Dial("tcp", server)
	if err != nil {
		return nil, err
	}
	features := []xmpp.StreamFeature{
		xmpp.SASL("", password, sasl.ScramSha256, sasl.ScramSha1, sasl.Plain),
		xmpp.BindResource(),
	}
	negotiator := xmpp.NewNegotiator(func(*xmpp.Session, *xmpp.StreamConfig) xmpp.StreamConfig {
		return xmpp.StreamConfig{Features: features}
	})
	return xmpp.NewSession(ctx, address.Domain(), address, connection, xmpp.Secure, negotiator)
}

func handler(rooms *muc.Client) xmpp.Handler {
	others := mux.New(stanza.NSClient, muc.HandleClient(rooms))
	return xmpp.HandlerFunc(func(stream xmlstream.TokenReadEncoder, start *xml.StartElement) error {
		if start.Name.Local != "message" {
			return others.HandleXMPP(stream, start)
		}
		var found message
		decoder := xml.NewTokenDecoder(xmlstream.MultiReader(xmlstream.Token(*start), stream))
		if err := decoder.Decode(&found); err != nil && err != io.EOF {
			return err
		}
		tell(heard{
			From:     found.From.String(),
			Type:     string(found.Type),
			ID:       found.ID,
			Body:     found.Body,
			Replaces: found.Replaces,
			ReplyTo:  found.ReplyTo,
		})
		return nil
	})
}

// Does what it is told until there is no more of it.
func obey(session *xmpp.Session, rooms *muc.Client) error {
	ctx := context.Background()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var told command
		if err := json.Unmarshal(lines.Bytes(), &told); err != nil {
			return err
		}
		if told.Join != "" {
			if _, err := rooms.Join(ctx, jid.MustParse(told.Join), session); err != nil {
				return err
			}
			tell(heard{Joined: told.Join})
			continue
		}
		words := message{
			Message:  stanza.Message{To: jid.MustParse(told.To), Type: stanza.MessageType(told.Type), ID: told.ID},
			Body:     told.Body,
			Replaces: told.Replaces,
			ReplyTo:  told.ReplyTo,
		}
		if err := session.Encode(ctx, words); err != nil {
			return err
		}
	}
	return lines.Err()
}
