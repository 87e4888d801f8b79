package lower

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/passes"
)

// lowering writes the programs of a communication by one way, and reads all of its options.
type lowering struct {
	need
	way   schedule.Way // the zero value
	facts fact
	// usual is the way, with its options, that a schedule has which leaves it open; nil: the one without options.
	usual func(*writer, leg) schedule.Way
	not   func(*stage) bool // it does not serve such stages
	why   string            // the reason; without not: what the way does not stand beside in a chain
	lacks []lack
	holes []hole // facts why the way does not do other communications
	write func(w *writer, s *stage, way schedule.Way) error
}

// lack is an option that a way has for other communications, "Parts", or a value of one, "By one kernel".
type lack struct {
	option string
	ofFP32 bool   // it has that for others than sums in fp32
	hint   string // none: to leave the option out
	why    string // about the tensor that travels; none: the way says it
}

// fact is what a lowering can do, or what it asks, and others do not.
type fact uint

// Facts of lowerings.
const (
	intoCallers     fact = 1 << iota // the gathered operand may be the caller's
	overwrites                       // ranks write results while others read what these are made of
	ofRowScales                      // scales that it brings are of rows
	copiesOwn                        // a kernel copies own rows to their place, beside those of others
	ofCodes                          // a kernel of its sums reads codes with their scales
	ofMoved                          // rows may come from other ranks than those of their numbers
	ofSomeRows                       // products make some rows before others
	betweenElements                  // it cuts sums between elements
	rounds                           // it rounds sums to the type of the plan
	network                          // it needs no memory of peers
)

func (l *lowering) is(f fact) bool { return l.facts&f != 0 }

// lowerings are all lowerings, in the files way_*.go. The first of a communication is the fastest known.
var lowerings = slices.Concat(pulls, pushes, groups, rings, pushRings, broadcasts, collectives, naives,
	slotted, stagings, stored, shots, slottedSums, pushShots, pushTwoShots, sumRings, gatherShots, pushGathers,
	tilings, paddings, overNCCL, overRails)

func (l *lowering) takes(way schedule.Way) bool { return reflect.TypeOf(l.way) == reflect.TypeOf(way) }

func doing(n need) (list []lowering) {
	for _, l := range lowerings {
		if l.need == n {
			list = append(list, l)
		}
	}
	return list
}

// rowsOfTable are lowerings by a way.
type rowsOfTable []lowering

// by are the lowerings of communications by a way.
func by[W schedule.Way](write func(w *writer, s *stage, way W) error, of ...need) (list rowsOfTable) {
	var zero W
	for _, n := range of {
		list = append(list, lowering{need: n, way: zero,
			write: func(w *writer, s *stage, way schedule.Way) error { return write(w, s, way.(W)) }})
	}
	return list
}

// has gives lowerings facts.
func (list rowsOfTable) has(facts fact) rowsOfTable {
	return list.with(func(l *lowering) { l.facts |= facts })
}

// with gives lowerings what else there is to say.
func (list rowsOfTable) with(says ...func(*lowering)) rowsOfTable {
	for i := range list {
		for _, say := range says {
			say(&list[i])
		}
	}
	return list
}

// because gives the facts why the way of lowerings does not do other communications.
func because(holes []hole) func(*lowering) { return func(l *lowering) { l.holes = holes } }

// orUse is a hint with the other ways of a communication, if there are some, beside the refusal of a field.
func (w *writer) orUse(hint string, of leg, at string) string {
	for i, name := range w.others(of, at) {
		hint += map[bool]string{true: ", or use ", false: ", "}[i == 0] + "schedule." + name
	}
	return hint
}

// others names the ways by which a communication is done here, beside all else that the schedule says: it is lowered by
// each. Where another field than the refused one is wrong with the usual way too, that is no fault of the ways.
func (w *writer) others(of leg, at string) (names []string) {
	if w.tries {
		return nil
	}
	refusal := func(way schedule.Way) string {
		s, move := w.Original, schedule.Move{Of: w.DeclaredAs(of.operand), Way: way}
		if s.Moves = slices.Clone(s.Moves); of.chosen < 0 {
			s.Moves = append(s.Moves, move)
		} else {
			s.Moves[of.chosen] = move
		}
		_, err := lowered("", s, true, func(passes.Pass, *hostir.Program) {})
		return fmt.Sprint(err)
	}
	elsewhere := refusal(nil)
	if strings.HasPrefix(elsewhere, at+": ") || strings.HasPrefix(elsewhere, at+"[") { // of the move that is added
		elsewhere = none
	}
	for _, l := range doing(of.need) {
		if r := refusal(l.way); r == none || r == elsewhere {
			names = append(names, schedule.WayName(l.way))
		}
	}
	return names
}

// none is the text of no error.
const none = "<nil>"

// usually names the way of a communication that most schedules leave open.
func usually(n need) string { return "schedule." + schedule.WayName(doing(n)[0].way) }

// betweenHosts is the way of communications over hosts.
func betweenHosts() schedule.Way {
	return lowerings[slices.IndexFunc(lowerings, func(l lowering) bool { return l.Hosts })].way
}

// except gives a lowering the stages that it does not serve, and the reason. If not is nil, why names what the way does
// not stand beside, and another check refuses that.
func except(not func(*stage) bool, why string) func(*lowering) {
	return func(l *lowering) { l.not, l.why = not, why }
}

// wholeRows says that a rank's rows leave by it at once, and come so.
var wholeRows = except(nil, "rows that come in parts of a rank's, or of several ranks at once: it takes away a rank's "+
	"rows, all of them")

// behindSums says that an operand which it brings ahead of a product does not begin ahead of sums.
var behindSums = except(nil, "sums of stages before: it begins behind these, as ranks wait for each other in both")

const leaveOut = "leave it out"

// lacksOf says that it serves all of its way's options but some, which the help leaves out.
func lacksOf(why string, options ...string) func(*lowering) { return lacks(lack{why: why}, options...) }

// lacks says so with a hint, or of sums in fp32.
func lacks(x lack, options ...string) func(*lowering) {
	return func(l *lowering) {
		for _, x.option = range options {
			l.lacks = append(l.lacks, x)
		}
	}
}

const noKernel = "no kernel does a whole step of it"

// lacksKernel says that no one kernel does a step of it.
var lacksKernel = lacks(lack{hint: "use schedule.Kernels", why: noKernel}, "By one kernel")

// lacked says which option of a way, as schedule.Options has it, is none for the communication; none is the zero lack.
func (l *lowering) lacked(o schedule.Option) (lack, bool) {
	i := slices.IndexFunc(l.lacks, func(x lack) bool { return x.option == o.Field || x.option == o.Field+" "+o.Value })
	if i < 0 {
		return lack{}, false
	}
	return l.lacks[i], true
}
