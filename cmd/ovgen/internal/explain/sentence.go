package explain

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/cmd/ovgen/internal/memory"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// sentence describes an item.
func (t *teller) sentence(i *item) string {
	if i.list[0].Kind == ops.WaitEvent {
		return t.join(i)
	}
	var parts []string
	for _, o := range i.list {
		parts = append(parts, t.clause(i, o))
	}
	text := strings.Join(parts, ";\n       ")
	switch kernel := i.list[0].Kernel; {
	case len(i.list) > 1:
		text = "one kernel: " + text
	case kernel != "":
		text += ", by a kernel"
	}
	return text
}

// join describes a wait for other streams of the same rank.
func (t *teller) join(i *item) string {
	var parts []string
	for _, on := range i.on {
		if on.number == 0 {
			parts = append(parts, on.stream)
			continue
		}
		parts = append(parts, fmt.Sprintf("%s (%d)", on.stream, on.number))
	}
	return "waits for " + and(parts)
}

// clause describes one operation.
func (t *teller) clause(i *item, o ops.Op) string {
	switch o.Kind {
	case ops.After:
		return "waits for the group's run before this one"
	case ops.Done:
		return "ends the run: the group's next one starts after this"
	case ops.Signal:
		return t.signal(o)
	case ops.Copy:
		return t.copied(o)
	case ops.Product:
		return t.product(o)
	case ops.Sum:
		return t.sum(o)
	case ops.Apply:
		return t.applied(o)
	case ops.Collective:
		return t.together(o)
	case ops.Call:
		return t.called(o)
	case ops.Take:
		return "takes the packets back to 0"
	}
	return o.Kind.String()
}

// signal describes a wait for posts, or a post.
func (t *teller) signal(o ops.Op) string {
	var peers []peer
	name, wait := "", false
	for _, w := range o.Words {
		wait = wait || !w.Write
	}
	for _, w := range o.Words {
		if w.Write == wait || ops.IsStep(w.At) {
			continue
		}
		name = t.member(w.At)
		if wait {
			peers = append(peers, peer{int(w.At.Offset/4) % t.c.Ranks, t.posts[w.At]})
		} else {
			peers = append(peers, peer{w.At.Rank, t.waits[w.At]})
		}
	}
	if wait {
		return fmt.Sprintf("waits for %q from %s", name, from(peers, "posted"))
	}
	return fmt.Sprintf("posts %q to %s", name, from(peers, "awaited"))
}

// member is the name of a word's semaphore, with its index if it is a member of a set.
func (t *teller) member(at ops.Loc) string {
	for _, s := range t.program.Semaphores {
		if s.Name == at.Buffer && !s.Count.IsZero() {
			return fmt.Sprintf("%s[%d]", s.Name, int(at.Offset/4)/t.c.Ranks)
		}
	}
	return at.Buffer
}

// peer is a rank and its item at the other end of a word.
type peer struct {
	rank int
	item *item
}

// from names the peers, and the steps in their lists at the other end of the word.
func from(peers []peer, how string) string {
	var ranks, each []string
	same := true
	first := peers[0].item
	for _, p := range peers {
		ranks = append(ranks, fmt.Sprint(p.rank))
		if p.item == nil {
			return "rank " + fmt.Sprint(p.rank) + ", which never does" // the program is unproven
		}
		same = same && p.item.stream == first.stream && p.item.number == first.number
		each = append(each, fmt.Sprintf("rank %d (%s by its %s, %d)", p.rank, how, p.item.stream, p.item.number))
	}
	switch {
	case len(peers) == 1:
		return each[0]
	case same:
		return fmt.Sprintf("ranks %s (%s by the %s of each, %d)", and(ranks), how, first.stream, first.number)
	}
	return and(each)
}

func (t *teller) copied(o ops.Op) string {
	if len(o.Uses) == 0 {
		return "has nothing to copy"
	}
	src, dst := o.Source(), o.Result()
	return fmt.Sprintf("copies %s of %s into %s%s", memory.Size(src.Bytes), t.place(src), t.place(dst), t.over(o))
}

// together describes a collective: the data that this rank sends, and the data that it receives.
func (t *teller) together(o ops.Op) string {
	src, dst := o.Source(), o.Result()
	if o.Exchanges() {
		sends, gets, into := "nothing", "nothing", ""
		if src.Bytes > 0 {
			sends = memory.Size(src.Bytes) + " of " + t.place(src)
		}
		if dst.Bytes > 0 {
			gets, into = memory.Size(dst.Bytes), " into "+t.place(dst)
		}
		if src.Bytes == dst.Bytes {
			gets = "as much"
		}
		return fmt.Sprintf("between hosts, by NCCL: sends %s to rank %d, gets %s of rank %d%s", sends, o.To, gets,
			o.From, into)
	}
	return fmt.Sprintf("%s with all ranks, by NCCL: brings %s of %s, gets %s into %s", o.Form,
		memory.Size(src.Bytes), t.place(src), memory.Size(dst.Bytes), t.place(dst))
}

// over returns text for an operation whose bytes cross a link.
func (t *teller) over(o ops.Op) string {
	for _, u := range o.Uses {
		if u.At.Rank != t.c.Rank {
			return ", over the link"
		}
	}
	return ""
}

func (t *teller) product(o ops.Op) string {
	x := o.Factors()
	left, right := t.place(*x.A), t.place(*x.B)
	form, function, applies := strings.Cut(o.Form, " ")
	switch form {
	case "linear":
		right += " transposed"
	case "gradient":
		left += " transposed"
	}
	text := fmt.Sprintf("multiplies %s by %s", left, right)
	into := "into"
	switch {
	case x.ScaleA != nil:
		text += ", scaled by " + t.place(*x.ScaleA) + " and " + t.place(*x.ScaleB)
	case x.ScaleB != nil:
		text += ", scaled by " + t.place(*x.ScaleB)
	}
	if o.Accumulate {
		into = "and adds it to"
	}
	if x.Bias != nil {
		text += ", adds " + t.place(*x.Bias)
	}
	if applies {
		text += ", applies " + function
	}
	m, k, n := o.Shape(t.c.ElementBits)
	return fmt.Sprintf("%s, %s %s: %s%s", text, into, t.place(o.Result()), flops(2*m*k*n), t.over(o))
}

// sum lists the terms, followed by their scales if they have scales.
func (t *teller) sum(o ops.Op) string {
	if len(o.Uses) == 0 {
		return "has nothing to sum"
	}
	terms, scales, others := ops.SummandsOf(&o, o.Reads())
	list := t.terms(slices.Concat(terms, others))
	if t.ofRounded(o) {
		list[0] += " (rounded before)"
	}
	text := "sums " + and(list)
	if len(scales) > 0 {
		text += ", scaled by " + and(t.terms(scales))
	}
	result := o.Result()
	return fmt.Sprintf("%s, into %s of %s%s", text, t.place(result), memory.Size(result.Bytes), t.over(o))
}

// terms are the places of uses; uses that are adjacent in one buffer make one place.
func (t *teller) terms(uses []ops.Use) (terms []string) {
	for i := 0; i < len(uses); i++ {
		u := uses[i]
		for i+1 < len(uses) && uses[i+1].At.Buffer == u.At.Buffer && uses[i+1].At.Rank == u.At.Rank &&
			uses[i+1].At.Offset == u.At.Offset+u.Bytes {
			i++
			u.Bytes += uses[i].Bytes
		}
		terms = append(terms, t.place(u))
	}
	return terms
}

// applied describes a function of its first operand, and of further operands if it has them.
func (t *teller) applied(o ops.Op) string {
	word := o.Form
	if step, ok := o.Node.(hostir.Step); ok {
		if x, makes := hostir.Applied(step.Do); makes && x.Word != "" {
			word = x.Word
		}
	}
	if len(o.Uses) < 2 {
		return "has no elements, and skips " + word
	}
	var others []string
	for _, u := range o.Beside() {
		others = append(others, t.place(u))
	}
	text := fmt.Sprintf("applies %s to %s of %s", word, memory.Size(o.Source().Bytes), t.place(o.Source()))
	if t.seam(o) {
		text += " (rounded before)"
	}
	if len(others) > 0 {
		text += " with " + and(others)
	}
	return text + ", into " + t.into(o)
}

// seam reports whether the rank has made the operand of functions by a product or a sum, which round it to the plan's
// type.
func (t *teller) seam(o ops.Op) bool {
	at := o.Source().At
	return at.Rank == t.c.Rank && slices.ContainsFunc(t.program.Buffers, func(b hostir.Buffer) bool {
		return b.Name == at.Buffer && b.Tensor.Type != schedule.FP32
	}) && slices.ContainsFunc(t.lists[at.Rank], func(x ops.Op) bool {
		return (x.Kind == ops.Product || x.Kind == ops.Sum) && len(x.Uses) > 0 && x.Result().At.Buffer == at.Buffer
	})
}

// ofRounded reports whether a sum only applies functions to a sum that its way has rounded.
func (t *teller) ofRounded(o ops.Op) bool {
	step, _ := o.Node.(hostir.Step)
	x, sums := step.Do.(hostir.Sum)
	from, planned := t.program.Buffer(o.Source().At.Buffer)
	return sums && planned && from.Owner == hostir.Plan && o.Source().At.Rank == t.c.Rank &&
		!slices.ContainsFunc(x.Terms, func(v hostir.View) bool { return v.Each.Index != "" })
}

// called describes a call of a function of the caller.
func (t *teller) called(o ops.Op) string {
	var reads []string
	for _, u := range o.Reads() {
		reads = append(reads, t.place(u))
	}
	return fmt.Sprintf("calls the caller's %s with %s, into %s", o.Form, and(reads), t.into(o))
}

// into is the place of the result of functions or of a call, with its scales.
func (t *teller) into(o ops.Op) string {
	var places []string
	for _, u := range o.Writes() {
		places = append(places, t.place(u))
	}
	return and(places)
}

// place is "its A", "part 2 of its Agathered" or "part 0 of rank 3's slots".
func (t *teller) place(u ops.Use) string {
	whose := "its "
	if u.At.Rank != t.c.Rank {
		whose = fmt.Sprintf("rank %d's ", u.At.Rank)
	}
	whole := whose + u.At.Buffer
	b, _ := t.program.Buffer(u.At.Buffer)
	if !b.Counts.IsZero() {
		return fmt.Sprintf("%s from %s on", whole, memory.Size(u.At.Offset))
	}
	size := func(elements hostir.Expr) int64 {
		n, _ := b.Bytes(t.count(elements, u.At.Rank), t.c.ElementBits) // a program that was unrolled has whole ones
		return n
	}
	total, chunk := size(b.Elements), size(b.Chunk)
	if u.Bytes >= total || chunk == 0 || u.Bytes == 0 {
		return whole
	}
	first, count := u.At.Offset/chunk, u.Bytes/chunk
	if count == 1 {
		return fmt.Sprintf("part %d of %s", first, whole)
	}
	return fmt.Sprintf("parts %d to %d of %s", first, first+count-1, whole)
}

// count is a number of elements on a rank.
func (t *teller) count(elements hostir.Expr, rank int) int64 {
	env := t.env(rank)
	n, err := elements.Eval(env)
	if err != nil && t.err == nil {
		t.err = err
	}
	return n
}

func (t *teller) env(rank int) hostir.Env {
	return t.c.At(rank).Env(t.program)
}
