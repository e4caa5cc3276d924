-- n elements whose keys are strings, written and read. Usage: lua keys.lua N
local n = tonumber(arg[1])
local number, read = {}, {}
for i = 0, n - 1 do
  number["key" .. i] = i
end
for i = 0, n - 1 do
  read[i] = number["key" .. i]
end
local sum = 0
for i = 0, n - 1 do
  sum = sum + read[i]
end
print(sum)
