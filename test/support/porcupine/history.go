package main

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
)

// never is the end of a call whose outcome nobody knows: it may be carried out at any later time.
const never = int64(math.MaxInt64)

// slack is how long after a fault an answer without content may still be one that told of it, in microseconds.
const slack = int64(1_000_000)

// told is how long after the beginning of a fault, and how long at the least at any other time of it, a poll lasts that is
// answered with nothing because its owner was lost, or was nowhere.
const told = int64(1_000_000)

// lag is how long before a fault a confirmation must have been answered to be stored for certain, in microseconds.
const lag = int64(1_000_000)

// burst is the time within which the same offset asked again gets a single update, in microseconds.
const burst = int64(500_000)

type update struct {
	ID   int64  `json:"id"`
	Text string `json:"text"`
}

// call is one line of a recorded history. Times are microseconds; an absent end is an outcome that nobody knows.
type call struct {
	Client  string `json:"client"`
	Call    string `json:"call"`
	Began   int64  `json:"began"`
	Ended   *int64 `json:"ended"`
	Args    args   `json:"args"`
	Outcome answer `json:"outcome"`
}

type args struct {
	Text   string `json:"text"`
	Number int    `json:"number"`
	Offset int64  `json:"offset"`
	Limit  int    `json:"limit"`
	Key    string `json:"key"`
	// Next and Cursor are where the log and the key begin.
	Next   int64 `json:"next"`
	Cursor int64 `json:"cursor"`
	// Loses says of a fault that what was confirmed just before it may be forgotten.
	Loses bool `json:"loses"`
}

type answer struct {
	Status      int      `json:"status"`
	Description string   `json:"description"`
	Updates     []update `json:"updates"`
	Message     int64    `json:"message"`
	Taken       bool     `json:"taken"`
	Texts       []string `json:"texts"`
}

func (c call) ok() bool { return c.Ended != nil && c.Outcome.Status == 200 }

func (c call) isPoll() bool { return c.Call == "getUpdates" }

func (c call) isChange() bool { return c.Call == "setWebhook" || c.Call == "deleteWebhook" }

// end is when its outcome was known, if that is ever.
func (c call) end() int64 {
	if c.Ended == nil {
		return never
	}
	return *c.Ended
}

func (c call) overlaps(began, ended int64) bool { return c.Began <= ended && c.end() >= began }

type history []call

func readHistory(from io.Reader) (history, error) {
	var calls history
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var one call
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, err
		}
		calls = append(calls, one)
	}
	return calls, lines.Err()
}

func (h history) only(name string) call {
	for _, one := range h {
		if one.Call == name {
			return one
		}
	}
	return call{}
}

// any tells whether another call that overlaps this one is such a call.
func (h history) any(with int, is func(call) bool) bool {
	for at, one := range h {
		if at != with && is(one) && one.overlaps(h[with].Began, h[with].end()) {
			return true
		}
	}
	return false
}

// isInDoubt tells whether a fault was there at the time of this call, or just before.
func (h history) isInDoubt(of call) bool {
	for _, one := range h {
		if one.Call == "fault" && one.Began <= of.end() && one.end()+slack >= of.Began {
			return true
		}
	}
	return false
}

// isTold tells whether an empty answer may say no more than that the owner was lost, or that there was none.
func (h history) isTold(poll call) bool {
	for _, one := range h {
		if one.Call != "fault" || one.Began > poll.end() || one.end()+slack < poll.Began {
			continue
		}
		if poll.Began <= one.Began+told || poll.end()-poll.Began >= told {
			return true
		}
	}
	return false
}

// isBraked tells whether the same offset was asked so short a time before that a single update may be answered.
func (h history) isBraked(at int) bool {
	poll := h[at]
	for other, one := range h {
		if other == at || !one.isPoll() || one.Args.Offset != poll.Args.Offset {
			continue
		}
		if one.overlaps(poll.Began-burst, poll.end()) {
			return true
		}
	}
	return false
}

// confirmedFor is what a call confirms at the most, if it arrives while the log ends before last.
func confirmedFor(offset, last int64) int64 {
	if offset <= 0 || offset > last+futureSlack {
		return 0
	}
	return offset - 1
}

// supposed is what calls without an answer may have confirmed until this one ended.
func (h history) supposed(until, last int64) int64 {
	most := int64(0)
	for _, one := range h {
		isOpen := !one.ok() || len(one.Outcome.Updates) == 0
		if !one.isPoll() || !isOpen || one.Began > until {
			continue
		}
		if one.Args.Offset < 0 {
			most = max(most, last+one.Args.Offset-1)
		} else {
			most = max(most, confirmedFor(one.Args.Offset, last))
		}
	}
	return most
}

// stored is what was confirmed so long before a fault that it is stored.
func (h history) stored(before, last int64) int64 {
	most := int64(0)
	for _, one := range h {
		if one.end() > before-lag {
			continue
		}
		switch {
		case one.isPoll() && one.ok() && !h.isInDoubt(one):
			most = max(most, confirmedFor(one.Args.Offset, last))
		case one.Call == "deliver" && one.Outcome.Taken && !h.isInDoubt(one):
			// What is acknowledged last may be stored by then or not.
			most = max(most, one.Outcome.Updates[0].ID-1)
		}
	}
	return most
}
