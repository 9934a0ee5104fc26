// A Telegram for the tests, made with the test server of github.com/gotd/td: two data centres on loopback, an account and
// a friend of it. It does what lines of JSON on its standard input say, and writes what it hears as lines of JSON.
//
// Where gotd v0.160.0 differs from Telegram's documentation, and what is done here about it:
//   - its notice of a new session always has the number 0, and says that no message came before it: the library takes the
//     first for one that it has had, and so does not send everything again;
//   - it goes on answering a session on the connection that it began on, though it is gone: here a session ends with its
//     connection;
//   - it looks neither at the salt of a message nor at its time, and has three salts for one key: those of the key exchange
//     and of a new session, and 10 as the future one;
//   - it knows no invokeAfterMsg and no questions about messages, and answers acknowledgements with errors;
//   - its messages have the sequence number 0, so that nobody acknowledges them, and its numbers of messages do not go back
//     with its clock;
//   - it takes no further connection until the one before has said something;
//   - its cluster announces addresses of IPv4 as such of IPv6, and its service of messages counts the updates of all people
//     together, drops entities, and takes a random number twice: neither is used.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"log"
	"net"
	"os"
	"sync"

	"github.com/gotd/td/exchange"
	"github.com/gotd/td/proto/codec"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgtest"
	"github.com/gotd/td/transport"
)

var centres = []int{2, 4}

type command struct {
	Number   int      `json:"number"`
	Do       string   `json:"do"`
	Method   string   `json:"method"`
	Fault    fault    `json:"fault"`
	Form     string   `json:"form"`
	Text     string   `json:"text"`
	Entities []entity `json:"entities"`
	Seconds  int      `json:"seconds"`
	Centre   int      `json:"centre"`
}

type centre struct {
	ID   int    `json:"id"`
	Port int    `json:"port"`
	Key  string `json:"key"`
}

type line struct {
	Centres []centre `json:"centres,omitempty"`
	Heard   *request `json:"heard,omitempty"`
	Done    int      `json:"done,omitempty"`
	Error   string   `json:"error,omitempty"`
}

var output sync.Mutex

func tell(fact line) {
	output.Lock()
	defer output.Unlock()
	if err := json.NewEncoder(os.Stdout).Encode(fact); err != nil {
		log.Fatal(err)
	}
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	world := newWorld()
	ready := make([]centre, 0, len(centres))
	for _, id := range centres {
		made, err := open(ctx, world, id)
		if err != nil {
			return err
		}
		ready = append(ready, made)
	}
	tell(line{Centres: ready})
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		var given command
		if err := json.Unmarshal(input.Bytes(), &given); err != nil {
			return err
		}
		done := line{Done: given.Number}
		if err := world.obey(ctx, given); err != nil {
			done.Error = err.Error()
		}
		tell(done)
	}
	return input.Err()
}

func open(ctx context.Context, world *world, id int) (centre, error) {
	key, err := newKey()
	if err != nil {
		return centre{}, err
	}
	socket, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return centre{}, err
	}
	port := socket.Addr().(*net.TCPAddr).Port
	// The cluster of gotd announces addresses of IPv4 as those of IPv6.
	option := tg.DCOption{ID: id, IPAddress: "127.0.0.1", Port: port}
	world.config.DCOptions = append(world.config.DCOptions, option)
	options := tgtest.ServerOptions{DC: id, Clock: &world.clock, MessageID: &world.clock}
	server := tgtest.NewServer(key, world.handler(), options)
	framed := func() transport.Codec { return ear{&codec.Intermediate{}, world.frames} }
	go func() {
		if err := server.Serve(ctx, transport.ListenCodec(framed, opened(socket))); err != nil {
			log.Fatal(err)
		}
	}()
	public := x509.MarshalPKCS1PublicKey(&key.RSA.PublicKey)
	block := pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: public})
	return centre{ID: id, Port: port, Key: string(block)}, nil
}

func newKey() (exchange.PrivateKey, error) {
	for {
		made, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return exchange.PrivateKey{}, err
		}
		key := tgtest.NewPrivateKey(made)
		// The library does not find a key again whose number begins with a zero when it is written.
		if uint64(key.Fingerprint())>>60 != 0 {
			return key, nil
		}
	}
}
