# case benign: OpenCV and NumPy draw, change and write a picture
# reason: ok
# tiers: ABC
# output: held
# artifacts: out.png -> 1

import cv2, numpy as np

picture = np.full((240, 320, 3), 255, np.uint8)
cv2.rectangle(picture, (40, 40), (200, 160), (0, 0, 255), -1)
cv2.circle(picture, (260, 120), 40, (0, 128, 0), 3)
cv2.putText(picture, "agon", (50, 210), cv2.FONT_HERSHEY_SIMPLEX, 1, (0, 0, 0), 2)
gray = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
edges = cv2.Canny(cv2.GaussianBlur(gray, (5, 5), 0), 50, 150)
contours, _ = cv2.findContours(edges, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
assert len(contours) >= 2
assert cv2.resize(picture, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC).shape == (480, 640, 3)
matrix = np.random.default_rng(0).normal(size=(100, 100))
assert np.allclose(np.linalg.inv(matrix) @ matrix, np.eye(100))
assert cv2.imwrite("out.png", picture)
assert (cv2.imread("out.png") == picture).all()
print("held")
