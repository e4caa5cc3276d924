-- n calls that make a string. Usage: lua texts.lua N
local function greet(i)
  return "hello " .. i
end
local n = tonumber(arg[1])
local texts = {}
for i = 0, n - 1 do
  texts[i] = greet(i)
end
local count = 0
for _ in pairs(texts) do
  count = count + 1
end
print(count)
