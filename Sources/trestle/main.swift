print("trestle")
