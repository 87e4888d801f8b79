package launcher

import (
	"os"
	"strconv"
	"strings"
)

// Variables with the numbers of a job and a step of Slurm.
const (
	slurmJob  = "SLURM_JOB_ID"
	slurmStep = "SLURM_STEP_ID"
)

// firstNode is the first host of a list in Slurm's notation: a01 of "a[01-03,7],b2".
func firstNode(list string) string {
	var host strings.Builder
	inside, skips := false, false // inside brackets; after the first number in them
	for _, c := range list {
		switch {
		case c == '[':
			inside = true
		case c == ']':
			inside, skips = false, false
		case inside && (c == '-' || c == ','):
			skips = true
		case c == ',':
			return host.String()
		case !skips:
			host.WriteRune(c)
		}
	}
	return host.String()
}

// slurmPort is a port from 20000 on, made of the numbers of job and step, so that two steps rarely have the same port.
// It is empty where there is no job.
func slurmPort() string {
	job, err := strconv.Atoi(os.Getenv(slurmJob))
	if err != nil {
		return ""
	}
	step, _ := strconv.Atoi(os.Getenv(slurmStep))
	return strconv.Itoa(20000 + (job+step)%20000)
}
