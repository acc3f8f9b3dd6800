/* svg.c: writes the charts of an evaluation as SVG. Drawings have fixed coordinates and scale with the page. Bars and
 * boxes are horizontal with labels on the left, since the names of recipes do not fit below columns. Only the
 * histograms of failures have columns. */
#include "eval/report.h"

#include <math.h>

#include "text/unicode.h"

enum {
    WIDTH = 520,
    LABELS = 146, /* width of the labels left of the axis */
    VALUES = 46,  /* width of the values right of the axis */
    ROW = 26,     /* height of a row */
    THICK = 14,   /* height of a bar or box */
    TOP = 6,
    BELOW = 40, /* height of the ticks and the axis label */
    MAP_HEIGHT = 440,
    MAP_MARGIN = 14,
    SMALL_WIDTH = 260, /* width if several charts share a line */
    SMALL_HEIGHT = 176,
    TIP = 160 /* maximum characters of a tooltip */
};

double wt__svg_step(double low, double high)
{
    double rough = (high - low) / 7;
    if (!(rough > 0) || !isfinite(rough))
        return 1;
    double power = pow(10, floor(log10(rough)));
    double shares[] = {1, 2, 5, 10};
    size_t i = 0;
    while (i < 3 && shares[i] * power < rough * (1 - 1e-9))
        i++;
    return shares[i] * power;
}

struct svg_axis {
    double low, high, step;
    double left, width; /* in the drawing's coordinates */
    enum svg_unit unit;
};

/* Returns an axis from low to high, extended to whole steps. */
static struct svg_axis make_axis(double low, double high, enum svg_unit unit)
{
    struct svg_axis axis = {.left = LABELS, .width = WIDTH - LABELS - VALUES, .unit = unit};
    if (!(high > low))
        high = low + (unit == UNIT_COUNT ? 5 : .1);
    axis.step = wt__svg_step(low, high);
    if (unit == UNIT_COUNT)
        axis.step = fmax(axis.step, 1);
    axis.low = floor(low / axis.step + 1e-9) * axis.step;
    axis.high = ceil(high / axis.step - 1e-9) * axis.step;
    return axis;
}

static double axis_position(const struct svg_axis *axis, double value)
{
    return axis->left + (value - axis->low) / (axis->high - axis->low) * axis->width;
}

static void write_chart_number(struct buffer *out, double value, enum svg_unit unit)
{
    if (unit == UNIT_PERCENT)
        wt__buffer_printf(out, "%.1f", 100 * value);
    else
        wt__buffer_printf(out, unit == UNIT_COUNT ? "%.1f" : "%.2f", value);
}

static void write_tick(struct buffer *out, const struct svg_axis *axis, double value)
{
    double shown = axis->unit == UNIT_PERCENT ? 100 * value : value;
    wt__buffer_printf(out, "%g", fabs(shown) < 1e-9 ? 0 : round(shown * 1e6) / 1e6);
}

static void begin_svg(struct buffer *out, const struct svg_chart *chart, int width, int height)
{
    wt__buffer_printf(out,
                      "<svg class=\"%s\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s-t %s-d\">"
                      "<title id=\"%s-t\">",
                      width == WIDTH ? "wide" : "small", width, height, chart->name, chart->name, chart->name);
    wt__html_text(out, wt__str(chart->title));
    wt__buffer_printf(out, "</title><desc id=\"%s-d\">", chart->name);
    wt__html_text(out, wt__str(chart->description));
    wt__buffer_text(out, "</desc>\n");
}

static void write_svg_text(struct buffer *out, double x, double y, const char *classes, struct str s)
{
    wt__buffer_printf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, classes);
    wt__html_text(out, s);
    wt__buffer_text(out, "</text>\n");
}

/* Returns the number of ticks, including both ends. */
static size_t count_ticks(const struct svg_axis *axis)
{
    return axis->step > 0 ? (size_t)((axis->high - axis->low) / axis->step + 0.5) + 1 : 1;
}

/* Draws grid, ticks and the axis label below `count` rows. */
static void draw_axis(struct buffer *out, const struct svg_chart *chart, const struct svg_axis *axis, size_t count)
{
    double bottom = TOP + (double)count * ROW;
    for (size_t t = 0; t < count_ticks(axis); t++) {
        double value = axis->low + (double)t * axis->step, x = axis_position(axis, value);
        wt__buffer_printf(out, "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%.1f\"/>", x, TOP, x,
                          bottom + 4);
        wt__buffer_printf(out, "<text class=\"tick middle\" x=\"%.1f\" y=\"%.1f\">", x, bottom + 18);
        write_tick(out, axis, value);
        wt__buffer_text(out, "</text>\n");
    }
    write_svg_text(out, axis->left + axis->width / 2, bottom + 36, "tick middle", wt__str(chart->axis));
}

static int rows_height(size_t count)
{
    return TOP + (int)count * ROW + BELOW;
}

static double row_middle(size_t row)
{
    return TOP + ((double)row + .5) * ROW;
}

static void draw_whisker(struct buffer *out, const struct svg_axis *axis, double low, double high, double y)
{
    double a = axis_position(axis, low), b = axis_position(axis, high);
    wt__buffer_printf(out, "<path class=\"whisker\" d=\"M%.1f %.1fV%.1fM%.1f %.1fH%.1fM%.1f %.1fV%.1f\"/>\n", a, y - 5,
                      y + 5, a, y, b, b, y - 5, y + 5);
}

void wt__svg_bars(struct buffer *out, const struct svg_chart *chart, const struct svg_bar *bars, size_t count)
{
    double highest = 0;
    for (size_t i = 0; i < count; i++)
        highest = fmax(highest, fmax(bars[i].value, bars[i].high));
    struct svg_axis axis = make_axis(0, highest, chart->unit);
    begin_svg(out, chart, WIDTH, rows_height(count));
    draw_axis(out, chart, &axis, count);
    for (size_t i = 0; i < count; i++) {
        double y = row_middle(i), end = axis_position(&axis, bars[i].value),
               beside = axis_position(&axis, fmax(bars[i].value, bars[i].high));
        write_svg_text(out, LABELS - 10, y + 4.5, "label end", wt__str(bars[i].label));
        wt__buffer_printf(out, "<rect class=\"s%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>\n",
                          bars[i].series, axis_position(&axis, 0), y - THICK / 2., end - axis_position(&axis, 0),
                          THICK);
        if (bars[i].low < bars[i].high)
            draw_whisker(out, &axis, bars[i].low, bars[i].high, y);
        wt__buffer_printf(out, "<text class=\"value\" x=\"%.1f\" y=\"%.1f\">", beside + 8, y + 4.5);
        write_chart_number(out, bars[i].value, chart->unit);
        wt__buffer_text(out, "</text>\n");
    }
    wt__buffer_text(out, "</svg>\n");
}

void wt__svg_boxes(struct buffer *out, const struct svg_chart *chart, const struct svg_box *rows, size_t count)
{
    double lowest = INFINITY, highest = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        lowest = fmin(lowest, rows[i].box.low);
        highest = fmax(highest, rows[i].box.high);
    }
    struct svg_axis axis = make_axis(count ? lowest : 0, count ? highest : 1, chart->unit);
    begin_svg(out, chart, WIDTH, rows_height(count));
    draw_axis(out, chart, &axis, count);
    for (size_t i = 0; i < count; i++) {
        const struct box_stats *box = &rows[i].box;
        double y = row_middle(i), left = axis_position(&axis, box->first), middle = axis_position(&axis, box->median);
        write_svg_text(out, LABELS - 10, y + 4.5, "label end", wt__str(rows[i].label));
        if (box->count == 0)
            continue;
        draw_whisker(out, &axis, box->low, box->high, y);
        wt__buffer_printf(out, "<rect class=\"s%u box\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>",
                          rows[i].series, left, y - THICK / 2., axis_position(&axis, box->third) - left, THICK);
        wt__buffer_printf(out, "<path class=\"median\" d=\"M%.1f %.1fV%.1f\"/>\n", middle, y - THICK / 2.,
                          y + THICK / 2.);
        wt__buffer_printf(out, "<text class=\"value\" x=\"%.1f\" y=\"%.1f\">", axis_position(&axis, box->high) + 8,
                          y + 4.5);
        write_chart_number(out, box->median, chart->unit);
        wt__buffer_text(out, "</text>\n");
    }
    wt__buffer_text(out, "</svg>\n");
}

void wt__svg_failures(struct buffer *out, const struct svg_chart *chart, const size_t *bins, size_t tallest,
                      unsigned series)
{
    struct svg_axis axis = make_axis(0, (double)tallest, UNIT_COUNT);
    double left = 40, bottom = SMALL_HEIGHT - 42, top = 14, across = (SMALL_WIDTH - left - 6) / FAILURE_BINS;
    begin_svg(out, chart, SMALL_WIDTH, SMALL_HEIGHT);
    for (size_t t = 0; t < count_ticks(&axis); t++) {
        double value = (double)t * axis.step, y = bottom - value / axis.high * (bottom - top);
        wt__buffer_printf(out, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>", left, y,
                          SMALL_WIDTH - 4, y);
        wt__buffer_printf(out, "<text class=\"tick end\" x=\"%.1f\" y=\"%.1f\">", left - 6, y + 4);
        write_tick(out, &axis, value);
        wt__buffer_text(out, "</text>\n");
    }
    for (size_t b = 0; b < FAILURE_BINS; b++) {
        double height = (double)bins[b] / axis.high * (bottom - top), x = left + (double)b * across;
        wt__buffer_printf(out, "<rect class=\"s%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", series,
                          x + 2, bottom - height, across - 4, height);
        if (b % 2 == 0)
            wt__buffer_printf(out, "<text class=\"tick middle\" x=\"%.1f\" y=\"%.1f\">%zu</text>\n", x + across / 2,
                              bottom + 16, 10 * b);
    }
    write_svg_text(out, left + (SMALL_WIDTH - left) / 2, SMALL_HEIGHT - 8, "tick middle", wt__str(chart->axis));
    wt__buffer_text(out, "</svg>\n");
}

/* Draws a mark. The kinds differ in shape as well as colour, for colour-blind readers. */
static void draw_mark(struct buffer *out, enum point_kind kind, double x, double y)
{
    if (kind == POINT_REQUEST)
        wt__buffer_printf(out, "<circle class=\"s0 point\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"", x, y);
    else if (kind == POINT_USE)
        wt__buffer_printf(out, "<rect class=\"s2 point\" x=\"%.1f\" y=\"%.1f\" width=\"4.6\" height=\"4.6\"", x - 2.3,
                          y - 2.3);
    else
        wt__buffer_printf(out, "<path class=\"s1 point\" d=\"M%.1f %.1fl3 5.2h-6z\"", x, y - 3);
}

void wt__svg_mark(struct buffer *out, enum point_kind kind)
{
    wt__buffer_text(out, "<svg class=\"mark\" viewBox=\"0 0 10 10\" aria-hidden=\"true\">");
    draw_mark(out, kind, 5, 5);
    wt__buffer_text(out, "/></svg>");
}

void wt__svg_map(struct buffer *out, const struct svg_chart *chart, const struct scatter_map *map)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < map->count; i++) {
        low[0] = fmin(low[0], map->points[i].x);
        low[1] = fmin(low[1], map->points[i].y);
        high[0] = fmax(high[0], map->points[i].x);
        high[1] = fmax(high[1], map->points[i].y);
    }
    double width = fmax(high[0] - low[0], 1e-9), height = fmax(high[1] - low[1], 1e-9);
    double scale = fmin((WIDTH - 2 * MAP_MARGIN) / width, (MAP_HEIGHT - 2 * MAP_MARGIN) / height);
    begin_svg(out, chart, WIDTH, MAP_HEIGHT);
    for (size_t i = 0; i < map->count; i++) {
        const struct point *point = &map->points[i];
        double x = WIDTH / 2. + (point->x - (low[0] + high[0]) / 2) * scale;
        double y = MAP_HEIGHT / 2. + (point->y - (low[1] + high[1]) / 2) * scale;
        draw_mark(out, point->kind, x, y);
        wt__buffer_text(out, "><title>");
        wt__html_cut(out, point->text, TIP);
        wt__buffer_text(out, "</title></");
        wt__buffer_text(out, point->kind == POINT_REQUEST ? "circle" : point->kind == POINT_USE ? "rect" : "path");
        wt__buffer_text(out, ">\n");
    }
    wt__buffer_text(out, "</svg>\n");
}
