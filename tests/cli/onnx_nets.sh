# pess net export to ONNX: run by OpenCV, and where `make onnxruntime` was called by onnxruntime too, the answers are
# those of pess act.
. "$(dirname "$0")/lib.sh"
python=/usr/bin/python3
if ! $python -c "import cv2, onnx, numpy" 2>/dev/null; then
    echo "skipped: python3-opencv and python3-onnx are not installed"
    exit 77
fi
export ONNXRUNTIME=$BUILD_DIR/onnxruntime
several=$([ -d "$ONNXRUNTIME/node_modules/onnxruntime-web" ] && echo onnxruntime)
expect 0 $python "$TEST_DATA/../tools/check_onnx.py" "$PESS" $several
prints "opencv, nature, bytes, softmax: 24 rows agree"
if [ -n "$several" ]; then
    prints "onnxruntime, nature, bytes, softmax: 24 rows agree"
    prints "onnxruntime, ua-ensemble: 24 rows agree"
    prints "onnxruntime, ua-propensity, in its data: 24 rows agree"
else
    echo "without onnxruntime (make onnxruntime): rules over several networks are not run"
fi
finish
