package emit

import (
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// newComment is that of New.
func (u *unit) newComment() string {
	text := "New makes a plan for a shape. It is collective: every rank of the group calls it with the same shape, " +
		"and all get the error of one. Everything that a run needs is allocated, opened, loaded and tuned here; the " +
		"device may be synchronised.\n\nThe group's arena holds the plan's words and what it stages: Shape.Memory " +
		"says how much"
	if len(u.gemms) > 0 {
		text += ". Each stream that runs products has a workspace of 32 MiB besides, which it shares with the " +
			"group's other plans"
	}
	return text + ".\n\nErrors are those of Check, or wrap *plan.DisagreementError, *plan.RanksError, " +
		"*group.ArenaError, *group.WordsError, *plan.RankError for what only another rank found, or " +
		"*group.AbortError where a rank did not come in time. All but the last leave the group whole."
}

// bindComment is that of Bind.
func (u *unit) bindComment() string {
	return "Bind sets the memory that runs work on. It is collective; with the buffers of the last Bind it does " +
		"nothing, and sends nothing. Addresses are multiples of 16 bytes. After an error the plan is not bound: " +
		"plan.ErrBusy, plan.ErrClosed, *plan.DisagreementError, *plan.RankError for what another rank found, or " +
		"*group.AbortError."
}

// enqueueComment is that of Enqueue.
func (u *unit) enqueueComment() string {
	text := "Enqueue enqueues one run behind what the stream holds, without waiting on the host; every rank of the " +
		"group enqueues its own. "
	if u.eager() {
		text += "The stream must not be in capture. "
	} else {
		text += "A stream that is being captured gets the run as part of its graph. "
	}
	if len(u.inLoop()) > 0 {
		text += "The first run after a Bind is collective: on the host the ranks exchange the handles of what they " +
			"share, which later runs look up. "
	}
	text += "A failure after Enqueue is learnt from the group's Done and Err, and a run that has not drained after " +
		"Config.RunTimeout aborts the group."
	if !u.eager() {
		text += " The group does not see the launches of a captured graph: its Watch, called behind each, bounds them."
	}
	return text + "\n\nErrors wrap plan.ErrNotBound, plan.ErrBusy, plan.ErrClosed, group.ErrClosed or " +
		"*group.AbortError."
}

// replayComment is that of Replay.
func (u *unit) replayComment() string {
	if u.eager() {
		return "Replay returns plan.ErrEager: the program must not be captured into a graph."
	}
	return "Replay is Enqueue by one launch of a graph that Bind captured: the host spends a few microseconds, " +
		"however many the ranks. The stream must not be in capture."
}

// runComment is that of Run.
func (u *unit) runComment() string {
	how := "Run launches one run on a stream of its own, from a graph captured by Bind,"
	if u.eager() {
		how = "Run enqueues one run on a stream of its own"
	}
	return how + " and waits until it is done. When ctx ends first, or has no deadline and Config.RunTimeout has " +
		"passed, the group is aborted on all ranks, since the peers can't be left to wait. The *group.AbortError " +
		"says who waited for whom. Other errors are Enqueue's."
}

// closeComment is that of Close.
const closeComment = "Close is collective and frees what the plan owns. It is bounded by ctx and Config.CallTimeout, " +
	"also when a peer is gone. A second call returns what the first did. The group's Close closes plans that are " +
	"open, and Close of a plan then returns what that one did. After an abort it waits for no peer and returns a " +
	"*group.AbortError."

// buffersComment is that of type Buffers.
const buffersComment = "Buffers are the caller's device memory, row-major, of elements of Shape.Type; Shape.Memory " +
	"lists their bytes. The caller owns them and keeps them until Bind has replaced them or Close has returned on " +
	"all ranks; memory that peers read must be memory that CUDA IPC can export."

// fieldComment is that of a buffer in type Buffers.
func fieldComment(b hostir.Buffer) string {
	verb := "It is "
	if !strings.HasPrefix(held(b), "[") {
		verb = "It has "
	}
	return comment(b.Name + " is " + b.Tensor.String() + share(b) + ".\n" + verb + held(b) + ".")
}

// held says how a buffer lies in a rank's memory: "[M/D, K] in memory, M/D*K elements".
func held(b hostir.Buffer) string {
	ones := func(factor string) bool { return factor == "1" }
	elements := strings.Join(slices.DeleteFunc(strings.Split(b.Elements.String(), "*"), ones), "*")
	if !b.Counts.IsZero() {
		return "as many elements as the counts say, at most " + elements
	}
	var axes []string
	for _, a := range b.Tensor.Axes {
		if x := inMemory(a); x != "1" || len(b.Tensor.Axes) == 1 {
			axes = append(axes, x)
		}
	}
	elements += " elements"
	if shape := "[" + strings.Join(axes, ", ") + "]"; shape != b.Tensor.String() {
		return shape + " in memory, " + elements
	}
	return elements
}

// inMemory is the extent of an axis on one rank.
func inMemory(a schedule.Axis) string {
	text := string(a.Extent)
	if slices.ContainsFunc(a.Outer, func(s schedule.Split) bool { return s.Kind == schedule.DeviceX }) {
		if text += "/" + string(schedule.D); a.Extent == schedule.D {
			text = "1"
		}
	}
	return text
}
