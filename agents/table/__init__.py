"""Commands for people: play, analyze and replay games, and files of recorded games."""
