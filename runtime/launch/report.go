package launch

import (
	"fmt"
	"io"
	"time"
)

// reportTime is the time that the other ranks leave the reporting one.
const reportTime = time.Second

// Report prints an error with which all ranks end, on the rank that reports it (see
// group.Reports). The others wait a second instead: a launcher ends the job when the
// first of its processes fails, and could cut the text off.
func Report(w io.Writer, err error, reports bool) {
	if reports {
		fmt.Fprintln(w, err)
		return
	}
	time.Sleep(reportTime)
}
