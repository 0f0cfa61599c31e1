// What is on window beside the browser's own: the libraries that Dash loads, and our events.
interface Window {
  swimscope: Record<string, unknown>;
  Plotly: any;
  React: any;
  dash_clientside: any;
  dash_component_api: any;
  dash_ag_grid: any;
  dashAgGridFunctions: Record<string, unknown>;
  dashAgGridComponentFunctions: Record<string, unknown>;
}
interface WindowEventMap {
  "swimscope:page": CustomEvent<{ run: string; page: string }>;
  "swimscope:path": CustomEvent<{ run: string; page: string }>;
  "swimscope:view": CustomEvent<{ changed: string[]; origin: "local" | "pop" | "tab" }>;
  "swimscope:grid": CustomEvent<{ id: string; api: any }>;
  "swimscope:theme": CustomEvent<string>;
}
