# case 57: kernel keys that would outlive the session
# reason: ok
# tiers: ABC
# output: held
# use: lib

SESSION, USER, USER_SESSION, KEYCTL_JOIN, KEYCTL_SEARCH = -3, -4, -5, 1, 10
for ring in (SESSION, USER, USER_SESSION):
    refuse_call(f"add_key to {ring}", 248, b"user", b"agon-abuse", b"left", 4, ring)
    refuse_call(f"a search in {ring}", 250, KEYCTL_SEARCH, ring, b"user", b"agon-abuse", 0)
refuse_call("request_key", 249, b"user", b"agon-abuse", 0, 0)
refuse_call("a keyring of one's own", 250, KEYCTL_JOIN, b"agon-abuse", 0, 0, 0)
print("held")

# ---- other session
# output: held
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(250, 10, -4, b"user", b"agon-abuse", 0) != -1:
    print("ESCAPED the key of another session is found")
print("held")
