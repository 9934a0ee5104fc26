// Judges a history of calls on one API key, given as JSON lines, by Porcupine: whether there is an order in which each call takes
// effect at one moment between its beginning and its end, and all answers are right.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

type verdict struct {
	Result     porcupine.CheckResult `json:"result"`
	Operations int                   `json:"operations"`
	// Stuck is the call that ended first among those for which no place was found.
	Stuck string `json:"stuck,omitempty"`
}

func judge(model porcupine.Model, operations []porcupine.Operation, within time.Duration, page string) verdict {
	result := porcupine.CheckOperationsTimeout(model, operations, within)
	said := verdict{Result: result, Operations: len(operations)}
	if result == porcupine.Ok {
		return said
	}
	_, info := porcupine.CheckOperationsVerbose(model, operations, within)
	said.Stuck = stuck(model, operations, info)
	if page != "" {
		_ = porcupine.VisualizePath(model, info, page)
	}
	return said
}

// stuck looks, in each part that could not be put in order, at what the longest order leaves out.
func stuck(model porcupine.Model, operations []porcupine.Operation, info porcupine.LinearizationInfo) string {
	parts := [][]porcupine.Operation{operations}
	if model.Partition != nil {
		parts = model.Partition(operations)
	}
	for part, orders := range info.PartialLinearizations() {
		var longest []int
		for _, order := range orders {
			if len(order) > len(longest) {
				longest = order
			}
		}
		placed := map[int]bool{}
		for _, at := range longest {
			placed[at] = true
		}
		first := -1
		for at, one := range parts[part] {
			if !placed[at] && (first < 0 || one.Return < parts[part][first].Return) {
				first = at
			}
		}
		if first < 0 {
			continue
		}
		state := model.Init()
		for _, at := range longest {
			_, state = model.Step(state, parts[part][at].Input, nil)
		}
		one := parts[part][first]
		return fmt.Sprintf("%s, from %d to %d, at %+v", model.DescribeOperation(one.Input, nil), one.Call, one.Return, state)
	}
	return ""
}

func main() {
	within := flag.Duration("within", time.Minute, "for each of the two searches")
	page := flag.String("page", "", "a file for the picture of a history that is illegal")
	flag.Parse()
	h, err := readHistory(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	said := map[string]verdict{
		"log":   judge(logModelFor(h), logOperations(h), *within, *page),
		"sends": judge(sendModel, sendOperations(h), *within, ""),
	}
	_ = json.NewEncoder(os.Stdout).Encode(said)
}
