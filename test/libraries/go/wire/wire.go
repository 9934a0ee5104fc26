// Package wire speaks the protocol of test/libraries/bot-process.ts for bots in Go.
package wire

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"
)

// Start is how and where the bot receives.
type Start struct {
	Address        string   `json:"address"`
	Key            string   `json:"key"`
	Mode           string   `json:"mode"`
	AllowedUpdates []string `json:"allowed_updates"`
	Webhook        *struct {
		Port   int    `json:"port"`
		Path   string `json:"path"`
		URL    string `json:"url"`
		Secret string `json:"secret"`
	} `json:"webhook"`
}

// Parameters are those of one call, as JSON.
type Parameters = map[string]any

// Absent is what the library does not have.
type Absent string

func (absent Absent) Error() string { return string(absent) }

// Refused is an error of the bot API.
type Refused struct {
	Code        int    `json:"code,omitempty"`
	Description string `json:"description"`
}

func (refused Refused) Error() string { return refused.Description }

var (
	input = bufio.NewReaderSize(os.Stdin, 1<<20)
	lock  sync.Mutex
)

func say(line any) {
	text, err := json.Marshal(line)
	if err != nil {
		text, _ = json.Marshal(map[string]string{"update_failed": err.Error()})
	}
	lock.Lock()
	defer lock.Unlock()
	os.Stdout.Write(append(text, '\n'))
}

// Tell passes an update on.
func Tell(update any) { say(map[string]any{"update": update}) }

func read(into any) bool {
	line, err := input.ReadBytes('\n')
	if err != nil {
		return false
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	return decoder.Decode(into) == nil
}

// Started reads the first line.
func Started() Start {
	var first struct{ Start Start }
	read(&first)
	return first.Start
}

// Version is that of a module that this program is made of.
func Version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return strings.TrimPrefix(dependency.Version, "v")
		}
	}
	return "unknown"
}

// Serve answers commands until it is told to stop.
func Serve(
	version string,
	call func(method string, parameters Parameters) (any, error),
	download func(fileID string) (io.ReadCloser, error),
) {
	say(map[string]any{"ready": map[string]string{"version": version}})
	for {
		var command struct {
			ID         int
			Call       string
			Parameters Parameters
			Download   string
			Stop       bool
		}
		if !read(&command) || command.Stop {
			return
		}
		go func() {
			var result any
			var err error
			defer func() {
				if broken := recover(); broken != nil {
					err, isError := broken.(error)
					if !isError {
						err = fmt.Errorf("%v", broken)
					}
					say(answer(command.ID, nil, err))
				}
			}()
			if command.Call != "" {
				result, err = call(command.Call, command.Parameters)
			} else {
				result, err = sumOf(download(command.Download))
			}
			say(answer(command.ID, result, err))
		}()
	}
}

func answer(id int, result any, err error) map[string]any {
	switch err := err.(type) {
	case nil:
		return map[string]any{"id": id, "result": result}
	case Absent:
		return map[string]any{"id": id, "absent": string(err)}
	case Refused:
		return map[string]any{"id": id, "refused": err}
	default:
		return map[string]any{"id": id, "failed": err.Error()}
	}
}

func sumOf(file io.ReadCloser, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	defer file.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, file)
	sum := hex.EncodeToString(hash.Sum(nil))
	return map[string]any{"size": size, "sha256": sum}, err
}

// Upload tells whether a parameter is a file, and opens it.
func Upload(value any) (*os.File, string) {
	given, _ := value.(map[string]any)
	path, ok := given["upload"].(string)
	if !ok {
		return nil, ""
	}
	file, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	return file, given["name"].(string)
}

// Custom makes the library's own form of a parameter; it answers nil where JSON will do.
type Custom func(kind reflect.Type, value any) any

// Plain is the JSON of a value of the library's types, with each object in it changed, the innermost first.
func Plain(value any, change func(object map[string]any) any) any {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	var read any
	json.Unmarshal(text, &read)
	return changed(read, change)
}

func changed(value any, change func(object map[string]any) any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			value[name] = changed(inner, change)
		}
		return change(value)
	case []any:
		for index, inner := range value {
			value[index] = changed(inner, change)
		}
	}
	return value
}

// Fill sets a value of the library's types from JSON; a name that the type does not know is Absent.
func Fill(target reflect.Value, value any, custom Custom) error {
	kind := target.Type()
	if made := custom(kind, value); made != nil {
		target.Set(reflect.ValueOf(made))
		return nil
	}
	_, isDecoder := reflect.New(kind).Interface().(json.Unmarshaler)
	members, isObject := value.(map[string]any)
	items, isArray := value.([]any)
	switch {
	case kind.Kind() == reflect.Pointer:
		target.Set(reflect.New(kind.Elem()))
		return Fill(target.Elem(), value, custom)
	case kind.Kind() == reflect.Struct && isObject && !isDecoder:
		for name, member := range members {
			field, ok := fieldOf(target, name)
			if !ok {
				return Absent(fmt.Sprintf("%s has no %s", kind.Name(), name))
			}
			if err := Fill(field, member, custom); err != nil {
				return err
			}
		}
		return nil
	case kind.Kind() == reflect.Slice && isArray:
		target.Set(reflect.MakeSlice(kind, len(items), len(items)))
		for index, item := range items {
			if err := Fill(target.Index(index), item, custom); err != nil {
				return err
			}
		}
		return nil
	default:
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		if number, ok := value.(json.Number); ok && kind.Kind() == reflect.Interface {
			whole, err := number.Int64()
			target.Set(reflect.ValueOf(whole))
			return err
		}
		return json.Unmarshal(text, target.Addr().Interface())
	}
}

func fieldOf(target reflect.Value, name string) (reflect.Value, bool) {
	kind := target.Type()
	for index := range kind.NumField() {
		tag, _, _ := strings.Cut(kind.Field(index).Tag.Get("json"), ",")
		if tag == name {
			return target.Field(index), true
		}
	}
	return reflect.Value{}, false
}

// Invoke calls a method of a bot by its name in the bot API: func(ctx[, *Params]) ([result,] error).
func Invoke(bot any, ctx any, method string, parameters Parameters, custom Custom) (any, error) {
	function := reflect.ValueOf(bot).MethodByName(strings.ToUpper(method[:1]) + method[1:])
	if !function.IsValid() {
		return nil, Absent("no method " + method)
	}
	arguments := []reflect.Value{reflect.ValueOf(ctx)}
	if function.Type().NumIn() == 2 {
		params := reflect.New(function.Type().In(1).Elem())
		if err := Fill(params.Elem(), parameters, custom); err != nil {
			return nil, err
		}
		arguments = append(arguments, params)
	}
	results := function.Call(arguments)
	err, _ := results[len(results)-1].Interface().(error)
	if len(results) == 1 {
		return err == nil, err
	}
	return results[0].Interface(), err
}
