package main

import (
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"
)

// futureSlack is how far past the next id an offset still confirms; the reference's figure.
const futureSlack = 10

// logState is the log of an account, the cursor of one key, and how that key receives. After a crash the cursor is somewhere
// from low to ever.
type logState struct {
	next    int64
	low     int64
	ever    int64
	webhook bool
	writers [writers]int
}

const writers = 4

// logStep is one operation on it; what it needs of the rest of the history is found before.
type logStep struct {
	kind string
	call call
	// id is the one of an update.
	id int64
	// writer and number say whose text it is, and which one of theirs.
	writer, number int
	// braked: a single update is an answer, too. told: so is none. doubt: a fault was there.
	braked, told, doubt bool
	// supposed is what calls without an answer may have confirmed by then.
	supposed int64
	// excused: a conflict with another call that was under way.
	excused bool
	// stored is what a fault leaves confirmed.
	stored int64
	// texts are those of the log in the end, from first on.
	log *finalLog
}

type finalLog struct {
	first int64
	texts []string
	ids   map[string]int64
	seen  map[int64]int64
}

// newFinalLog reads the log as it was in the end. A text that is there twice has the id of the first one, so that nobody has
// written the other.
func newFinalLog(h history) *finalLog {
	log := &finalLog{first: h.only("start").Args.Next, ids: map[string]int64{}, seen: map[int64]int64{}}
	for _, one := range h.only("log").Outcome.Updates {
		log.texts = append(log.texts, one.Text)
		if _, known := log.ids[one.Text]; !known {
			log.ids[one.Text] = one.ID
		}
	}
	for _, one := range h {
		if !one.isPoll() && one.Call != "deliver" {
			continue
		}
		for _, seen := range one.Outcome.Updates {
			if at, known := log.seen[seen.ID]; !known || one.end() < at {
				log.seen[seen.ID] = one.end()
			}
		}
	}
	return log
}

func (log *finalLog) next() int64 { return log.first + int64(len(log.texts)) }

// has tells whether these are updates of the log, one after the other.
func (log *finalLog) has(updates []update) bool {
	for at, one := range updates {
		place := one.ID - log.first
		if one.ID != updates[0].ID+int64(at) || place < 0 || place >= int64(len(log.texts)) {
			return false
		}
		if log.texts[place] != one.Text {
			return false
		}
	}
	return true
}

func logOperations(h history) []porcupine.Operation {
	log := newFinalLog(h)
	var operations []porcupine.Operation
	clients := map[string]int{}
	add := func(step logStep, ended int64) {
		step.log = log
		if _, known := clients[step.call.Client]; !known {
			clients[step.call.Client] = len(clients)
		}
		operations = append(operations, porcupine.Operation{
			ClientId: clients[step.call.Client],
			Input:    step,
			Call:     step.call.Began,
			Return:   ended,
		})
	}
	numbers := map[string]int{}
	for at, one := range h {
		step := logStep{kind: one.Call, call: one}
		switch one.Call {
		case "write":
			addWrite(step, log, numbers, add)
		case "getUpdates":
			addPoll(h, at, log, add)
		case "setWebhook", "deleteWebhook":
			addChange(h, at, step, add)
		case "deliver":
			step.doubt = h.isInDoubt(one)
			step.supposed = h.supposed(one.end(), log.next())
			add(step, one.end())
		case "fault":
			if !one.Args.Loses {
				continue
			}
			step.stored = max(h.stored(one.Began, log.next()), h.only("start").Args.Cursor)
			add(step, one.end())
		case "log":
			add(step, one.end())
		}
	}
	return operations
}

// addWrite: a text is appended once it is acknowledged or later, and before the first answer that has it has arrived.
func addWrite(step logStep, log *finalLog, numbers map[string]int, add func(logStep, int64)) {
	id, isThere := log.ids[step.call.Args.Text]
	if !isThere && !step.call.ok() {
		return
	}
	writer, known := numbers[step.call.Client]
	if !known {
		writer = len(numbers)
		numbers[step.call.Client] = writer
	}
	step.id, step.writer, step.number = id, writer, step.call.Args.Number
	ended, isSeen := log.seen[id]
	if !isSeen {
		ended = never
	}
	add(step, max(ended, step.call.Began))
}

// addChange: refused for lack of an owner or a database it is certainly not made.
func addChange(h history, at int, step logStep, add func(logStep, int64)) {
	step.excused = h.any(at, call.isChange)
	switch {
	case step.call.ok():
		add(step, step.call.end())
	case step.call.Ended == nil || step.call.Outcome.Status != 503 && step.call.Outcome.Status != 429:
		add(step, never)
	}
}

func addPoll(h history, at int, log *finalLog, add func(logStep, int64)) {
	one := h[at]
	step := logStep{kind: "read", call: one}
	step.supposed = h.supposed(one.end(), log.next())
	switch {
	case one.Ended == nil:
		return
	case one.ok():
		step.braked, step.told = h.isBraked(at), h.isTold(one)
		confirm := step
		confirm.kind = "confirm"
		// Nothing follows from it, but what it may have confirmed.
		if step.told && len(one.Outcome.Updates) == 0 {
			return
		}
		// A poll confirms as it arrives, and reads when it is answered.
		if one.Args.Offset > 0 {
			add(confirm, one.end())
		}
		add(step, one.end())
	case one.Outcome.Status == 409:
		step.kind = "conflict"
		description := one.Outcome.Description
		switch {
		case strings.Contains(description, "other getUpdates"):
			step.excused = h.any(at, call.isPoll)
		case strings.Contains(description, "setWebhook request"):
			step.excused = h.any(at, call.isChange)
		default:
			step.excused = h.any(at, call.isChange)
			step.kind = "webhook conflict"
		}
		if !step.excused {
			add(step, one.end())
		}
	}
}

var logModel = porcupine.Model{
	Step: func(state, input, _ interface{}) (bool, interface{}) {
		ok, next := input.(logStep).apply(state.(logState))
		return ok, next
	},
	DescribeOperation: func(input, _ interface{}) string { return input.(logStep).String() },
	DescribeState:     func(state interface{}) string { return fmt.Sprintf("%+v", state) },
}

func logModelFor(h history) porcupine.Model {
	model := logModel
	begin := h.only("start").Args
	model.Init = func() interface{} {
		return logState{next: begin.Next, low: begin.Cursor, ever: begin.Cursor}
	}
	return model
}

func (step logStep) apply(state logState) (bool, logState) {
	switch step.kind {
	case "write":
		return step.append(state)
	case "confirm":
		state.confirm(step.call.Args.Offset)
		return true, state
	case "read":
		return step.read(state)
	case "conflict":
		return false, state
	case "webhook conflict":
		return state.webhook, state
	case "setWebhook", "deleteWebhook":
		return step.change(state)
	case "deliver":
		return step.deliver(state)
	case "fault":
		state.low = min(state.low, step.stored)
		return true, state
	case "log":
		isWhole := step.log.has(step.call.Outcome.Updates) || len(step.log.texts) == 0
		return isWhole && state.next == step.log.next(), state
	}
	return false, state
}

func (state *logState) confirm(offset int64) {
	if offset <= 0 || offset > state.next+futureSlack {
		return
	}
	state.low = max(state.low, min(offset, state.next)-1)
	state.ever = max(state.ever, state.low)
}

func (step logStep) append(state logState) (bool, logState) {
	if step.id != state.next {
		return false, state
	}
	state.next++
	if step.call.ok() {
		if step.number <= state.writers[step.writer] {
			return false, state
		}
		state.writers[step.writer] = step.number
	}
	return true, state
}

func (step logStep) read(state logState) (bool, logState) {
	updates := step.call.Outcome.Updates
	// Ahead of the log it has confirmed as it came what there was by then, and gets what came later.
	isAhead := len(updates) > 0 && updates[0].ID < step.call.Args.Offset
	if !isAhead || step.log.seen[updates[0].ID] < step.call.Began {
		state.confirm(step.call.Args.Offset)
	}
	most := min(max(state.ever, step.supposed), state.next-1)
	if offset := step.call.Args.Offset; offset < 0 {
		state.low = max(state.low, state.next-1+offset)
		most = max(most, state.low)
	}
	cursor := state.next - 1
	if len(updates) > 0 {
		cursor = updates[0].ID - 1
	}
	if state.webhook || cursor < state.low || cursor > most {
		return false, state
	}
	there := state.next - 1 - cursor
	isFull := int64(len(updates)) == min(there, int64(step.call.Args.Limit))
	if !step.log.has(updates) || !isFull && !(step.braked && len(updates) == 1 && there > 0) {
		return false, state
	}
	state.low = cursor
	state.ever = max(state.ever, cursor)
	return true, state
}

// change is told to have changed nothing only if the webhook was so already, and to have deleted one only if there was one, or
// one was being set.
func (step logStep) change(state logState) (bool, logState) {
	sets := step.kind == "setWebhook"
	isSame := strings.Contains(step.call.Outcome.Description, "is already")
	isDone := strings.Contains(step.call.Outcome.Description, "was deleted")
	if isSame && state.webhook != sets || isDone && !state.webhook && !step.excused {
		return false, state
	}
	state.webhook = sets
	return true, state
}

func (step logStep) deliver(state logState) (bool, logState) {
	one := step.call.Outcome.Updates[0]
	if !step.log.has(step.call.Outcome.Updates) || one.ID >= state.next {
		return false, state
	}
	// A node that was frozen may still end what it had begun.
	if step.doubt && one.ID <= state.low {
		return true, state
	}
	most := min(max(state.ever, step.supposed), state.next-1)
	if one.ID <= state.low || one.ID > most+1 || !state.webhook && !step.doubt {
		return false, state
	}
	state.low = max(state.low, one.ID-1)
	state.ever = max(state.ever, state.low)
	if step.call.Outcome.Taken {
		state.ever = max(state.ever, one.ID)
	}
	return true, state
}

func (step logStep) String() string {
	one := step.call
	switch step.kind {
	case "write":
		return fmt.Sprintf("%s writes %q, which is %d", one.Client, one.Args.Text, step.id)
	case "read", "confirm":
		return fmt.Sprintf("%s %ss from %d (limit %d): %v", one.Client, step.kind, one.Args.Offset,
			one.Args.Limit, one.Outcome.Updates)
	case "conflict", "webhook conflict":
		return fmt.Sprintf("%s polls: %s", one.Client, one.Outcome.Description)
	case "deliver":
		return fmt.Sprintf("the webhook gets %v, taken: %t", one.Outcome.Updates, one.Outcome.Taken)
	case "log":
		return fmt.Sprintf("the log ends before %d", step.log.next())
	}
	return fmt.Sprintf("%s: %s", one.Client, step.kind)
}
