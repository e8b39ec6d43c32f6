"""The Python of the course: packages of which each may import those before it, base, machinecode, trace, chapter, explain,
exercise, record, cli."""
