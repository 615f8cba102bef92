print("trestled")
