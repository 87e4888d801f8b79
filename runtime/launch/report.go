package launch

import (
	"fmt"
	"io"
	"time"
)

// reportTime is the time that the other ranks wait for the reporting rank.
const reportTime = time.Second

// Report prints an error with which all ranks end, on the rank that reports it (see group.Reports). The other ranks
// wait a second instead: a launcher ends the job when its first process fails, and could cut off the text.
func Report(w io.Writer, err error, reports bool) {
	if reports {
		fmt.Fprintln(w, err)
		return
	}
	time.Sleep(reportTime)
}
