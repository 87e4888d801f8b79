package scheduletest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"ovgen/schedule"
)

// Tensors reads tensors from a line: "A[M/D K] C[M:D N/D]" is A [DIDx(D), M/D, K] and C [Stream(D), M/D, DIDx(D), N/D].
// Behind the extent of an axis come its splits, from the outside: /D is DIDx(D), :D Stream(D), and *4 plain. /D+1 is
// shifted by one, /D~P uneven with at most P rows. A@0 is on rank 0 only.
func Tensors(line string) (list []schedule.Tensor) {
	for _, m := range tensorText.FindAllStringSubmatch(line, -1) {
		t := schedule.Tensor{Name: m[1], Root: m[2] != ""}
		for _, a := range strings.Fields(m[3]) {
			t.Axes = append(t.Axes, axis(a))
		}
		list = append(list, t)
	}
	if rest := tensorText.ReplaceAllString(line, ""); strings.TrimSpace(rest) != "" {
		panic(fmt.Sprintf("scheduletest: %q is no tensors", rest))
	}
	return list
}

var (
	tensorText = regexp.MustCompile(`(\w+)(@0)?\[([^\]]*)\]`)
	splitText  = regexp.MustCompile(`([/:*])(\d+|D)([+-]\d+)?(~?)(\w*)`)
	kinds      = map[string]schedule.SplitKind{"/": schedule.DeviceX, ":": schedule.StreamAxis, "*": schedule.Plain}
)

// axis reads one axis with its splits.
func axis(text string) schedule.Axis {
	at := strings.IndexAny(text, "/:*")
	if at < 0 {
		at = len(text)
	}
	a := schedule.Dim(schedule.Extent(text[:at]))
	for _, m := range splitText.FindAllStringSubmatch(text[at:], -1) {
		shift, _ := strconv.Atoi(m[3])
		a.Outer = append(a.Outer, schedule.Split{Kind: kinds[m[1]], Count: schedule.Extent(m[2]), Shift: shift,
			Uneven: m[4] != "", Most: schedule.Extent(m[5])})
	}
	return a
}
