package main

import (
	"fmt"
	"sort"
	"strings"

	"github.com/anishathalye/porcupine"
)

// sendState is what became of one Idempotency-Key. A message whose number nobody has been told has the number unknown.
type sendState struct {
	sent    bool
	message int64
}

const unknown = int64(-1)

type sendStep struct {
	kind string
	call call
	// count is how often the network has the message in the end.
	count int
}

func sendOperations(h history) []porcupine.Operation {
	counts := map[string]int{}
	stored := h.only("stored")
	for _, text := range stored.Outcome.Texts {
		counts[text]++
	}
	keys := map[string]bool{}
	var operations []porcupine.Operation
	add := func(step sendStep, ended int64) {
		operations = append(operations, porcupine.Operation{Input: step, Call: step.call.Began, Return: ended})
	}
	for at, one := range h {
		if one.Call != "sendMessage" {
			continue
		}
		if !keys[one.Args.Key] {
			keys[one.Args.Key] = true
			last := stored
			last.Args = one.Args
			add(sendStep{kind: "stored", call: last, count: counts[one.Args.Text]}, stored.end())
		}
		addSend(h, at, add)
	}
	return operations
}

func addSend(h history, at int, add func(sendStep, int64)) {
	one := h[at]
	isOther := func(other call) bool { return other.Call == "sendMessage" && other.Args.Key == one.Args.Key }
	switch {
	case one.Ended == nil || one.Outcome.Status == 504:
		add(sendStep{kind: "open", call: one}, never)
	case one.ok():
		add(sendStep{kind: "sent", call: one}, one.end())
	case one.Outcome.Status == 409 && h.any(at, isOther):
		// Another call with the key was under way.
	case one.Outcome.Status == 503 || one.Outcome.Status == 429:
		add(sendStep{kind: "refused", call: one}, one.end())
	default:
		add(sendStep{kind: "never right", call: one}, one.end())
	}
}

var sendModel = porcupine.Model{
	Partition: func(operations []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[string][]porcupine.Operation{}
		for _, one := range operations {
			key := one.Input.(sendStep).call.Args.Key
			byKey[key] = append(byKey[key], one)
		}
		names := make([]string, 0, len(byKey))
		for name := range byKey {
			names = append(names, name)
		}
		sort.Strings(names)
		parts := make([][]porcupine.Operation, 0, len(names))
		for _, name := range names {
			parts = append(parts, byKey[name])
		}
		return parts
	},
	Init: func() interface{} { return sendState{} },
	Step: func(before, input, _ interface{}) (bool, interface{}) {
		state, step := before.(sendState), input.(sendStep)
		message := step.call.Outcome.Message
		switch step.kind {
		case "sent":
			if state.sent && state.message != unknown && state.message != message {
				return false, state
			}
			return message > 0, sendState{sent: true, message: message}
		case "open":
			if !state.sent {
				return true, sendState{sent: true, message: unknown}
			}
			return true, state
		case "refused":
			return true, state
		case "stored":
			return step.count <= 1 && state.sent == (step.count == 1), state
		}
		return false, state
	},
	DescribeOperation: func(input, _ interface{}) string { return input.(sendStep).String() },
	DescribeState:     func(state interface{}) string { return fmt.Sprintf("%+v", state) },
}

func (step sendStep) String() string {
	one := step.call
	said := []string{one.Client, step.kind, one.Args.Key, fmt.Sprint(one.Outcome.Status), one.Outcome.Description}
	if step.kind == "stored" {
		said = append(said, fmt.Sprintf("%d times", step.count))
	}
	return strings.Join(said, " ")
}
