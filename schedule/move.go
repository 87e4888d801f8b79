package schedule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// Move says in which way a communication is done that the placements require.
type Move struct {
	// Of is a tensor that has to travel, or a result whose partial sums on the ranks have to meet. A chain's sum that
	// is then gathered unchanged can have a move for each of the two.
	Of string
	// Way is the way of the communication; nil is the fastest known one.
	Way Way
}

// Way is one way of a communication, a struct with its options. The zero value of every option is the fastest known
// choice.
type Way interface{ way() Facts }

// Sums says that a way is for partial sums that have to meet.
func Sums(w Way) bool { return FactsOf(w).Sums }

// Travels says that a way is for a tensor that travels.
func Travels(w Way) bool { return FactsOf(w).Travels }

// ways are the zero values of all ways.
var ways = []Way{Pull{}, Push{}, Grouped{}, Ring{}, PushRing{}, Broadcast{}, Collective{}, GatherShot{}, Tiles{},
	Naive{}, Slots{}, Staged{}, Stores{}, Shot{}, TwoShot{}, PushShot{}, PushTwoShot{}, PushGather{},
	RingSum{}, RingAccumulate{}, Padded{}, NCCL{}, Rails{}}

// Ways lists the zero values of all ways.
func Ways() []Way { return append([]Way{}, ways...) }

// WayName is the name of a way's type, empty for nil.
func WayName(w Way) string {
	if w == nil {
		return ""
	}
	return reflect.TypeOf(w).Name()
}

// wayOf is the type of the way with a name.
func wayOf(name string) (reflect.Type, bool) {
	for _, w := range ways {
		if WayName(w) == name {
			return reflect.TypeOf(w), true
		}
	}
	return nil, false
}

// Option is a field of a way and its value as text.
type Option struct {
	Field, Value string
	Zero         bool   // the option is unset; Value is the default
	Decides      string // what of each program it decides, whatever the way; empty: only what its own way does
}

// Options are the options of a way with their values; options that are left open have their default values.
func Options(w Way) (list []Option) {
	if w == nil {
		return nil
	}
	v := reflect.ValueOf(w)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		o := Option{Field: f.Name, Value: optionText(v.Field(i)), Zero: v.Field(i).IsZero(),
			Decides: f.Tag.Get("decides")}
		if zero, ok := f.Tag.Lookup("zero"); ok && o.Zero {
			o.Value = zero
		}
		list = append(list, o)
	}
	return list
}

func optionText(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return "yes"
		}
		return "no"
	case reflect.Int:
		return strconv.FormatInt(v.Int(), 10)
	}
	return v.String()
}

// choice is an option with names for its values.
type choice interface{ values() []string }

// OptionValues are the values that a way's option may have: names, "yes", or numbers "2..64".
func OptionValues(w Way, field string) []string {
	f, ok := reflect.TypeOf(w).FieldByName(field)
	if !ok {
		return nil
	}
	switch v := reflect.Zero(f.Type).Interface().(type) {
	case choice:
		return v.values()
	case bool:
		return []string{"yes"}
	}
	return []string{"1.." + f.Tag.Get("most")}
}

// checkMoves refuses unknown tensors, tensors moved twice, and values that an option does not take.
func (s Schedule) checkMoves(v *validation) {
	seen, twice := map[string]bool{}, map[string]bool{}
	for i, m := range s.Moves {
		path := fmt.Sprintf("Moves[%d]", i)
		_, declared := s.Tensor(m.Of)
		switch {
		case m.Of == "":
			v.add(path+".Of", "name the tensor that travels", "a move of no tensor")
		case !declared && !s.Made(m.Of):
			v.add(path+".Of", "name a declared tensor, or one that an operation makes", "there is no tensor %q", m.Of)
		case seen[m.Of] && (declared || twice[m.Of]):
			v.add(path+".Of", "leave one out", "%s is moved twice", m.Of)
		}
		twice[m.Of] = seen[m.Of] // a sum that is also gathered
		seen[m.Of] = true
		if m.Way == nil {
			continue
		}
		if t := reflect.TypeOf(m.Way); t.Kind() == reflect.Pointer {
			v.add(path+".Way", "drop the &", "a pointer to a way, where the way itself is needed")
			continue
		}
		v.checkOptions(path+".Way", m.Way)
	}
}

func (v *validation) checkOptions(path string, w Way) {
	x := reflect.ValueOf(w)
	for i := range x.NumField() {
		f := x.Type().Field(i)
		at := path + "." + f.Name
		switch field := x.Field(i); value := field.Interface().(type) {
		case int:
			most, _ := strconv.Atoi(f.Tag.Get("most"))
			if value < 0 || value > most {
				v.add(at, fmt.Sprintf("use 1 to %d, or leave it out", most), "%s is %d", f.Name, value)
			}
		case choice:
			oneOf(v, at, field.String(), value.values()...)
		}
	}
}

// MarshalJSON writes {"Of": "A", "Way": {"Pull": {"Parts": 2}}}.
func (m Move) MarshalJSON() ([]byte, error) {
	out := struct {
		Of  string
		Way map[string]any `json:",omitempty"`
	}{Of: m.Of}
	if v := reflect.Indirect(reflect.ValueOf(m.Way)); v.IsValid() {
		out.Way = map[string]any{v.Type().Name(): v.Interface()}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads the text of MarshalJSON, and refuses unknown fields.
func (m *Move) UnmarshalJSON(text []byte) error {
	var in struct {
		Of  string
		Way map[string]json.RawMessage
	}
	if err := strictly(text, &in); err != nil {
		return fmt.Errorf("read a move: %w", err)
	}
	*m = Move{Of: in.Of}
	if len(in.Way) > 1 {
		return fmt.Errorf("read the move of %s: %d ways", in.Of, len(in.Way))
	}
	for name, options := range in.Way {
		t, ok := wayOf(name)
		if !ok {
			return fmt.Errorf("read the move of %s: unknown way %q", in.Of, name)
		}
		w := reflect.New(t)
		if err := strictly(options, w.Interface()); err != nil {
			return fmt.Errorf("read the move of %s: %w", in.Of, err)
		}
		m.Way = w.Elem().Interface().(Way)
	}
	return nil
}

func strictly(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// Way is the schedule's way for a communication, nil where it has none.
func (s Schedule) Way(of string) Way {
	for _, m := range s.Moves {
		if m.Of == of {
			return m.Way
		}
	}
	return nil
}

// Ordered reports whether every way of the schedule adds partial results in the order of ranks, whichever rank comes
// first.
func (s Schedule) Ordered() bool {
	return !slices.ContainsFunc(s.Moves, func(m Move) bool { return FactsOf(m.Way).Unordered })
}
