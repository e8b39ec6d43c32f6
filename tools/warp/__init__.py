"""The Python of the course: packages of which each may import those before it, base, machinecode, chapter, trace, exercise, record, cli."""
