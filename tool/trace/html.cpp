// SPDX-License-Identifier: Apache-2.0
#include "tool/trace/html.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

namespace hvdize::trace {

namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else out += c;
  }
  return out;
}

// A text inside a script: no quote, no end of the script.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '<') out += "\\u003c";
    else if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + "\"";
}

// Rows of the time line: the tracks of rank 0, of rank 1, ...
using Rows = std::map<std::pair<int, int>, std::size_t>;

Rows rowsOf(const Run& run) {
  Rows rows;
  for (const Event& e : run.events) rows.emplace(std::make_pair(e.rank, e.track), 0);
  std::size_t next = 0;
  for (auto& [key, row] : rows) row = next++;
  return rows;
}

std::string data(const Run& run) {
  const Rows rows = rowsOf(run);
  const double from = run.events.empty() ? 0 : run.events.front().start;
  std::map<std::string, std::size_t> names;
  std::string events, labels, list;
  for (const Event& e : run.events) {
    if (e.category == "bucket") continue;
    const std::size_t name = names.emplace(e.category + "|" + e.name, names.size()).first->second;
    char line[160];
    std::snprintf(line, sizeof line, "%s[%zu,%zu,%.1f,%.1f,%llu]", events.empty() ? "" : ",", rows.at({e.rank, e.track}), name, e.start - from,
                  e.length, static_cast<unsigned long long>(e.bytes));
    events += line;
  }
  for (const auto& [key, row] : rows) {
    const auto track = run.track_names.find(key);
    if (!labels.empty()) labels += ',';
    labels += quoted("rank " + std::to_string(key.first) + " " + (track == run.track_names.end() ? "" : track->second));
  }
  std::vector<std::string> ordered(names.size());
  for (const auto& [name, index] : names) ordered[index] = name;
  for (const std::string& name : ordered) {
    if (!list.empty()) list += ',';
    list += quoted(name);
  }
  return "const rows=[" + labels + "],names=[" + list + "],events=[" + events + "];\n";
}

constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>hvd-trace</title>
<style>body{font:14px sans-serif;margin:1em;color:#222}pre{background:#f4f4f4;padding:1em;overflow:auto}canvas{border:1px solid #bbb;width:100%}
#tip{height:1.4em;font-family:monospace}</style></head><body>
<h1>Trace</h1>
)";

// Wheel: zoom at the pointer; drag: move; the line below says what is under the pointer.
constexpr const char* kScript = R"JS(
const canvas=document.getElementById('line'),tip=document.getElementById('tip'),high=26,left=150;
let total=1;for(const e of events)total=Math.max(total,e[2]+e[3]);
let from=0,until=total,held=null;
const colours={loading:'#e6a23c',forward:'#67a5e8',backward:'#3d6fb5',update:'#6fbf73'};
function colour(name){const [kind,text]=name.split('|');if(kind==='wait')return '#d9534f';if(kind==='collective')return '#8e6bbf';
 if(kind==='message')return '#5bb8b0';return colours[text]||'#c8c8c8'}
function draw(){canvas.width=canvas.clientWidth;canvas.height=rows.length*high+24;const c=canvas.getContext('2d'),scale=(canvas.width-left)/(until-from);
 c.font='12px sans-serif';
 for(const e of events){const x=left+(e[2]-from)*scale,w=Math.max(e[3]*scale,0.5);if(x+w<left||x>canvas.width)continue;
  const inner=names[e[1]].startsWith('phase|')?0:8;c.fillStyle=colour(names[e[1]]);c.fillRect(Math.max(x,left),e[0]*high+2+inner,Math.min(w,canvas.width),high-4-inner)}
 c.fillStyle='#fff';c.fillRect(0,0,left,canvas.height);c.fillStyle='#222';rows.forEach((r,i)=>c.fillText(r,4,i*high+17));
 for(let i=0;i<=8;i++){const t=from+(until-from)*i/8;c.fillText((t/1000).toFixed(2)+' ms',left+(canvas.width-left-60)*i/8,rows.length*high+16)}}
function time(x){return from+(x-left)/(canvas.clientWidth-left)*(until-from)}
canvas.addEventListener('wheel',v=>{v.preventDefault();const t=time(v.offsetX),f=v.deltaY>0?1.25:0.8;
 from=Math.max(0,t-(t-from)*f);until=Math.min(total,t+(until-t)*f);draw()},{passive:false});
canvas.addEventListener('mousedown',v=>{held=v.offsetX});window.addEventListener('mouseup',()=>{held=null});
canvas.addEventListener('mousemove',v=>{if(held!==null){let d=time(held)-time(v.offsetX);d=Math.max(-from,Math.min(total-until,d));from+=d;until+=d;held=v.offsetX;draw();return}
 const t=time(v.offsetX),row=Math.floor(v.offsetY/high);let text='';
 for(const e of events)if(e[0]===row&&e[2]<=t&&t<=e[2]+e[3])text+=names[e[1]].split('|')[1]+'  '+(e[3]/1000).toFixed(3)+' ms'+(e[4]?'  '+e[4]+' bytes':'')+'    ';
 tip.textContent=text});
window.addEventListener('resize',draw);draw();
)JS";

}  // namespace

std::string htmlPage(const Run& run, const Summary& summary) {
  std::string page = kHead;
  page += "<canvas id=\"line\"></canvas><div id=\"tip\"></div>\n<pre>" + escaped(print(run, summary)) + "</pre>\n";
  page += "<script>\n" + data(run) + kScript + "</script>\n</body></html>\n";
  return page;
}

}  // namespace hvdize::trace
