package sim

import "ovgen/runtime/driver"

// Codes of CUresult that the simulator answers with.
const (
	invalidValue         = 1
	outOfMemory          = 2
	deinitialized        = 4
	invalidDevice        = 101
	invalidContext       = 201
	peerUnsupported      = 217
	noBinary             = 209
	illegalState         = 401
	invalidHandle        = 400
	notFound             = 500
	notReady             = 600
	illegalAddress       = 700
	alreadyRegistered    = 712
	notRegistered        = 713
	captureUnsupported   = 900
	captureInvalidated   = 901
	captureMerge         = 902
	captureUnmatched     = 903
	captureUnjoined      = 904
	captureIsolation     = 905
	capturedEvent        = 907
	blasInvalidValue     = 7 // of cublasStatus_t
	blasExecutionFailure = 13
)

var texts = map[int]string{
	invalidValue:    "CUDA_ERROR_INVALID_VALUE: invalid argument",
	outOfMemory:     "CUDA_ERROR_OUT_OF_MEMORY: out of memory",
	deinitialized:   "CUDA_ERROR_DEINITIALIZED: driver shutting down",
	invalidDevice:   "CUDA_ERROR_INVALID_DEVICE: invalid device ordinal",
	invalidContext:  "CUDA_ERROR_INVALID_CONTEXT: invalid device context",
	peerUnsupported: "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED: peer access is not supported between these two devices",
	noBinary:        "CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image is available for execution on the device",
	illegalState:    "CUDA_ERROR_ILLEGAL_STATE: the operation cannot be performed in the present state",
	invalidHandle:   "CUDA_ERROR_INVALID_HANDLE: invalid resource handle",
	notFound:        "CUDA_ERROR_NOT_FOUND: named symbol not found",
	notReady:        "CUDA_ERROR_NOT_READY: device not ready",
	illegalAddress:  "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered",
	alreadyRegistered: "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED: part or all of the requested memory " +
		"range is already mapped",
	notRegistered: "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED: pointer does not correspond to a " +
		"registered memory region",
	captureUnsupported: "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: operation not permitted when stream is capturing",
	captureInvalidated: "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED: operation failed due to a previous " +
		"error during capture",
	captureMerge: "CUDA_ERROR_STREAM_CAPTURE_MERGE: operation would result in a merge of " +
		"separate capture sequences",
	captureUnmatched: "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED: capture was not ended in the same stream as it began",
	captureUnjoined:  "CUDA_ERROR_STREAM_CAPTURE_UNJOINED: capturing stream has unjoined work",
	captureIsolation: "CUDA_ERROR_STREAM_CAPTURE_ISOLATION: dependency created on uncaptured work in another stream",
	capturedEvent: "CUDA_ERROR_CAPTURED_EVENT: operation not permitted on an event last recorded " +
		"in a capturing stream",
}

var blasTexts = map[int]string{
	blasInvalidValue:     "CUBLAS_STATUS_INVALID_VALUE",
	blasExecutionFailure: "CUBLAS_STATUS_EXECUTION_FAILED",
}

func fail(call string, code int) error {
	return &driver.Status{Call: call, Code: code, Text: texts[code]}
}

func failBlas(call string, code int) error {
	return &driver.Status{Call: call, Code: code, Text: blasTexts[code]}
}
