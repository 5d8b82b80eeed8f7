count += 1
print(count, open("notes.txt").read(), end="")
