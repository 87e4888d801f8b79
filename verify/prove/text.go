package prove

import (
	"fmt"
	"strings"

	"ovgen/verify/ops"
)

// text describes a node.
func (g *graph) text(n int32) string {
	x := g.nodes[n]
	switch x.kind {
	case caller:
		if int(x.run) == g.runs {
			return "the caller reads C and overwrites its buffers, after the last run"
		}
		return "the caller reads C and overwrites its buffers, before this run"
	case opened:
		return "New and Bind: words zeroed, memory exported, imported, all ranks met"
	case closed:
		return "Close: all ranks met, memory freed"
	case word:
		return g.wordText(n)
	}
	o := g.operation(n)
	switch {
	case x.kind == begin:
		return "kernel " + o.Kernel + " starts"
	case x.kind == finish:
		return "kernel " + o.Kernel + " ends"
	case x.kind == ahead:
		return "ahead of the launch before: " + opText(o)
	case x.kind == enter:
		return "begin " + opText(o)
	case x.kind == leave:
		return "end " + opText(o)
	}
	return opText(o)
}

// wordText names the action on a word, and its semaphore.
func (g *graph) wordText(n int32) string {
	w, _ := g.item(n)
	switch {
	case ops.OfStream(w.At):
		return fmt.Sprintf("note %s = %d", w.At.Buffer, w.Value)
	case !w.Write:
		return "wait " + g.wordName(w.At) + fmt.Sprintf(" == %d", w.Value)
	case w.Value == 0:
		return "reset " + g.wordName(w.At)
	}
	return "post " + g.wordName(w.At) + fmt.Sprintf(" = %d", w.Value)
}

// wordName is ready[2]@0: the word for rank 2 in rank 0's memory. Of a semaphore with
// several members it is ready[1][2]@0.
func (g *graph) wordName(at ops.Loc) string {
	member, poster := at.Offset/4/int64(len(g.lists)), at.Offset/4%int64(len(g.lists))
	if _, several := g.model.Members[at.Buffer]; several || member != 0 {
		return fmt.Sprintf("%s[%d][%d]@%d", at.Buffer, member, poster, at.Rank)
	}
	return fmt.Sprintf("%s[%d]@%d", at.Buffer, poster, at.Rank)
}

func opText(o *ops.Op) string {
	switch o.Kind {
	case ops.After:
		return "start of the run"
	case ops.Done:
		return "end of the run"
	case ops.Record:
		return fmt.Sprintf("record event %d", o.Event)
	case ops.WaitEvent:
		return fmt.Sprintf("wait for event %d", o.Event)
	case ops.Signal:
		return "signal nothing"
	}
	var reads, writes []string
	for _, u := range o.Uses {
		if ops.IsWorkspace(u.At) {
			continue
		}
		name := fmt.Sprintf("%s@%d[%d:%d]", u.At.Buffer, u.At.Rank, u.At.Offset, u.At.Offset+u.Bytes)
		if u.Write {
			writes = append(writes, name)
		} else {
			reads = append(reads, name)
		}
	}
	by := ""
	if o.Kernel != "" {
		by = " by kernel " + o.Kernel
	}
	what := o.Kind.String()
	if o.Kind == ops.Collective {
		what = o.Form
	}
	return fmt.Sprintf("%s%s %s -> %s", what, by, strings.Join(reads, ", "), strings.Join(writes, ", "))
}
