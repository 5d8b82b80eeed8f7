count = 3
with open("notes.txt", "w") as notes:
    notes.write("left by the first script\n")
