package touch

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ovgen/runtime/driver"
)

// Awaits refuses an early kernel whose PTX does something ahead of its wait for the end of the launch before. One that
// reads ahead may read and branch there, and must not write. So an early launch does what a plain one does, but for its
// reads ahead. Code without PTX runs on no GPU and is not refused.
func Awaits(code *driver.Code, k *driver.Kernel) error {
	text := code.PTX
	if code.Source != "" {
		text = driver.ReadHead(text).Body
	}
	if !k.Early || len(text) == 0 {
		return nil
	}
	_, body, found := bytes.Cut(text, []byte(".entry "+k.Name+"("))
	body, _, _ = bytes.Cut(body, []byte(".entry "))
	ahead, _, waits := bytes.Cut(body, []byte("griddepcontrol.wait;"))
	if !found || !waits {
		return fmt.Errorf("kernel %s starts early, and its PTX does not wait for the end of the launch before "+
			"(begin it with start_early)", k.Name)
	}
	for _, m := range instruction.FindAllSubmatch(ahead, -1) {
		if does := effectOf(string(m[1]), string(m[2])); does == writes || does == reads && !k.Ahead {
			return fmt.Errorf("kernel %s starts early, and its PTX has %s%s ahead of the wait for the end of the "+
				"launch before (begin it with start_early)", k.Name, m[1], m[2])
		}
	}
	return nil
}

// instruction finds instructions that use memory, or with which a thread leaves what follows: their names, and what
// stands behind these.
var instruction = regexp.MustCompile(
	`(?m)^\s*(?:@!?%p\d+\s+)?(ld|st|atom|red|cp|prefetch|bra|brx|call|ret|exit|trap)((?:\.[\w:]+)*)\b`)

// effect is what an instruction does that other launches see, or that a launch must not do before it sees them.
type effect int

const (
	nothing effect = iota
	reads          // or leaves what follows
	writes
)

// own are the spaces of memory that no other launch uses.
var own = []string{".param", ".const", ".shared", ".local"}

func effectOf(name, behind string) effect {
	switch to := strings.Index(behind, ".global"); {
	case name == "cp" && to >= 0 && to < strings.Index(behind, ".shared"):
		return writes
	case name == "cp":
		return reads
	case slices.ContainsFunc(own, func(space string) bool { return strings.Contains(behind, space) }):
		return nothing
	case name == "st" || name == "atom" || name == "red":
		return writes
	}
	return reads
}
