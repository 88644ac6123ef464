-- Creates two sessions of Ardour: "dry", whose only track plays a tune, and "wet", with the plugin in that track. Then
-- reloads the second session and checks the restored values.
--
-- Usage: ardour7-lua session.lua FOLDER TUNE FRAMES AT VALUE NAME=VALUE...
--
-- Creates FOLDER for sessions of FRAMES frames at 44.1 kHz: half a second of silence, the stereo file TUNE, half a second of
-- silence. Ardour's exports lack the first frames of a track with a latency. Sets the parameters to their values, in their
-- own units. The first parameter jumps to VALUE at the frame AT.

local RATE, SILENCE = 44100, 22050
local folder, tune, frames, at, jump = arg[1], arg[2], tonumber(arg[3]), tonumber(arg[4]), tonumber(arg[5])
local settings = {}
for index = 6, #arg do
    local name, value = arg[index]:match("^(.+)=(.+)$")
    settings[#settings + 1] = { name = name, value = assert(tonumber(value), arg[index]) }
end

-- Runs `work` on a session, and closes it. Ardour crashes if Lua still holds a reference into a closed session, so all
-- references are local to `work`, and are collected first.
local function with(session, work)
    assert(session, "no session")
    local result = work(session)
    session = nil
    collectgarbage()
    close_session()
    return result
end

-- Returns the plugin in the track "Tune".
local function inserted(session)
    local plugin = session:route_by_name("Tune"):nth_plugin(0)
    assert(not plugin:isnil(), "the plugin is missing")
    return plugin
end

-- Returns the numbers of all parameters by their names. Ardour counts only input parameters.
local function numbers(plugin)
    local instance, found, number = plugin:to_insert():plugin(0), {}, 0
    for index = 0, instance:parameter_count() - 1 do
        if instance:parameter_is_control(index) and instance:parameter_is_input(index) then
            found[instance:parameter_label(index)] = number
            number = number + 1
        end
    end
    return found
end

local function number(plugin, setting)
    return assert(numbers(plugin)[setting.name], "no parameter " .. setting.name)
end

local function create(session)
    local order, mode = ARDOUR.PresentationInfo.max_order, ARDOUR.TrackMode.Normal
    local track = session:new_audio_track(2, 2, nil, 1, "Tune", order, mode, true):front()
    -- Ardour would do this itself, but possibly after the session is saved.
    for channel = 1, 2 do
        track:output():audio(channel - 1):connect("Master/audio_in " .. channel)
    end
    session:save_state("")
end

-- Edits a session file. `work` gets its text, and a function that replaces the only match of a pattern.
local function edit(path, work)
    local file = assert(io.open(path))
    local text = file:read("a")
    file:close()
    work(text, function(old, new)
        local count
        text, count = text:gsub(old, function() return new end)
        assert(count == 1, old)
    end)
    file = assert(io.open(path, "w"))
    file:write(text)
    assert(file:close())
end

-- Puts the tune into the track with unused ids. Lua can import files only in Ardour's window.
local function import(text, put)
    local source = '<Source name="' .. tune .. '" type="audio" flags="" id="900%d" channel="%d"/>'
    put("<Sources/>", "<Sources>" .. source:format(0, 0) .. source:format(1, 1) .. "</Sources>")
    put("<Locations/>", ([[<Locations>
        <Location id="9002" name="session" start="a0" end="%s" flags="IsSessionRange"/>
        </Locations>]]):format(Temporal.timepos_t(frames)))
    local length = Temporal.timepos_t(frames - 2 * SILENCE)
    put("<Playlist [^>]*/>", ([[%s><Region id="9003" name="Tune" type="audio" channels="2" start="a0" length="%s@%s"
        source-0="9000" source-1="9001" master-source-0="9000" master-source-1="9001"
        fade-in-active="0" fade-out-active="0"/></Playlist>]])
        :format(text:match("(<Playlist [^>]*)/>"), length, Temporal.timepos_t(SILENCE)))
end

-- Makes Ardour open the plugin's editor in the top left corner.
local function open_editor(text, put)
    local track, plugin = text:match('<Route [^>]*id="(%d+)" name="Tune"'), text:match('id="(%d+)" name="Tone Filter"')
    put("</Session>", ([[<Extra><UI>
        <Window name="P-%s-%s" visible="1" x-off="0" y-off="0" x-size="1000" y-size="640" custom-ui="1"/>
        </UI></Extra></Session>]]):format(track, plugin))
end

-- Returns the automation of the first parameter: its control and its points.
local function automation(plugin)
    local index = number(plugin, settings[1])
    local _, points = ARDOUR.LuaAPI.plugin_automation(plugin, index)
    local parameter = Evoral.Parameter(ARDOUR.AutomationType.PluginAutomation, 0, index)
    return plugin:to_automatable():automation_control(parameter, true), points
end

local function insert(session)
    local plugin = ARDOUR.LuaAPI.new_plugin_with_time_domain(
        session, "Tone Filter", ARDOUR.PluginType.VST3, Temporal.TimeDomain.AudioTime, "")
    assert(not plugin:isnil(), "Ardour does not know the plugin")
    assert(session:route_by_name("Tune"):add_processor_by_index(plugin, 0, nil, true) == 0, "cannot insert")
    for _, setting in ipairs(settings) do
        assert(ARDOUR.LuaAPI.set_processor_param(plugin, number(plugin, setting), setting.value), setting.name)
    end
    local control, points = automation(plugin)
    points:set_interpolation(Evoral.InterpolationStyle.Discrete)
    points:add(Temporal.timepos_t(0), settings[1].value, false, false)
    points:add(Temporal.timepos_t(at), jump, false, false)
    control:set_automation_state(ARDOUR.AutoState.Play)
    session:save_state("wet")
end

-- Values are 32-bit floats.
local function check(name, actual, expected)
    local close = math.abs(actual - expected) <= 1e-6 * math.abs(expected)
    assert(close, ("%s is %s, not %s, after a reload"):format(name, actual, expected))
end

local function verify(session)
    local plugin = inserted(session)
    for _, setting in ipairs(settings) do
        local actual = ARDOUR.LuaAPI.get_processor_param(plugin, number(plugin, setting))
        check(setting.name, actual, setting.value)
        print(setting.name .. " is restored: " .. actual)
    end
    local control, points = automation(plugin)
    assert(control:automation_state() == ARDOUR.AutoState.Play, "automation is off after a reload")
    check("automation before", points:eval(Temporal.timepos_t(at - 1)), settings[1].value)
    check("automation after", points:eval(Temporal.timepos_t(at)), jump)
end

with(create_session(folder, "dry", RATE), create)
edit(folder .. "/dry.ardour", import)
with(load_session(folder, "dry"), insert)
with(load_session(folder, "wet"), verify)
edit(folder .. "/wet.ardour", open_editor)
quit()
